"""Tables and pages made of records: the subcommands of scripts/report, a file each."""
