"""Program text to typed AST."""
