"""Networks of links and switches, looked at without running them."""
