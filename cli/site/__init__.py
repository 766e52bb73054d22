"""The site that `ppl docs --site` writes: Markdown for MkDocs, of what `ppl docs` shows."""
