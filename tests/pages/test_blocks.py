"""What counts as code in a page."""

from tests.pages.blocks import Block, blocks, commands, inline

PAGE = """
Say `sfm runs` or `sfm eval
RUN`, not `runs`.

```sh
sfm train 'a b' \\
    --steps 5   # few
```
- in a list:

  ```python
  if x:
      pass
  ```

```
a drawing of `sfm nothing`
```
"""


def test_blocks_have_their_language_and_lose_their_indent():
    assert blocks(PAGE) == [
        Block("sh", "sfm train 'a b' \\\n    --steps 5   # few\n"),
        Block("python", "if x:\n    pass\n"),
        Block("", "a drawing of `sfm nothing`\n"),
    ]


def test_commands_are_words_without_comments():
    assert commands("a 'b c' \\\n  --d=1  # e; f\n\n# g\nh; i && j '{\"k\": 1}'\n") == [
        ["a", "b c", "--d=1"],
        ["h"],
        ["i"],
        ["j", '{"k": 1}'],
    ]


def test_commands_in_a_sentence_are_found_outside_of_blocks():
    assert inline(PAGE) == ["sfm runs", "sfm eval RUN"]
