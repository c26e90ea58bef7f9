"""How Sphinx builds the documents: ``make docs``."""

from importlib import metadata

project = "Replax"
author = "The Replax developers"
project_copyright = "The Replax developers"
release = metadata.version("replax")

extensions = ["myst_parser", "sphinx_copybutton"]
html_theme = "furo"
html_title = "Replax"
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
copybutton_exclude = ".linenos, .gp, .go"
