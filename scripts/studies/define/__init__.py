"""What the user writes: study files and sites, refused with their lines where they are wrong; and the points they mean."""
