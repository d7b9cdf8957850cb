"""The capstone's page."""

PAGE = "13_beyond_text_capstone"
