"""Tables, pictures and reports of fits and files."""
