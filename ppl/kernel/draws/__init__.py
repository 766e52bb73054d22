"""Draws by named columns, and as CSV."""
