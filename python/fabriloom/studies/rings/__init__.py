"""Networks of rings and buses, looked at without running them."""
