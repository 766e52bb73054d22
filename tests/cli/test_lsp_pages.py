from ppl.cli.lsp.pages import as_markdown, page
from ppl.stdlib.reference import reference


def test_what_an_editor_shows_ends_with_the_documentation():
    for word in reference():
        markdown = as_markdown(page(word))
        assert "Computed by" not in markdown and ".py:" not in markdown, word
    assert as_markdown(page("normal_lpdf")).endswith("vector or row_vector\n```")
