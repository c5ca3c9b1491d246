"""How a process behaves: its children, what it hears as signals, and what it imports late."""
