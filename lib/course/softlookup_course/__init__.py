"""The course around the library: figures, widgets, pages, exams, routes, and what students do at home."""

BESIDE_SUBMISSIONS = ("figures", "widgets", "slide_audit")
"""What a submission may import of this package: nothing that knows an answer."""
