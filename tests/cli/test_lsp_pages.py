from ppl.cli.lsp.pages import as_markdown, page
from ppl.stdlib.reference import reference


def test_what_an_editor_shows_ends_with_the_documentation():
    for word in reference():
        shown = as_markdown(page(word))
        assert "Computed by" not in shown and ".py:" not in shown, word
    assert as_markdown(page("normal_lpdf")).endswith("vector or row_vector\n```")
