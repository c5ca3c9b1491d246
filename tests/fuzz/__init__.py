"""Whatever the bytes of a file, its reader gives data or a message."""
