"""Study files and sites that the user writes, refused with their lines where they are wrong; and the points they mean."""
