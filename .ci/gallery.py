"""How the gallery of the pages is made: programs whose names begin with plot_ are run, in the order of their names."""

conf = {
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 10_000,
}
