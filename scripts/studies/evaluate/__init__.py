"""From the records of a study to tables, figures and a page."""
