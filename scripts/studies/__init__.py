"""From one study file to points, job scripts, runs, tables, figures and a page; scripts/study is the command."""
