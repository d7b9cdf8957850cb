"""The remarks that reports must contain: a regular expression for each thing that grading ignores or stops."""

EXTRA_CELLS = r"(?i:\bcells?\b.*(not (in|part of) the release|added|extra|own).*(ignored|not run|left out|left aside))"
"""Cells that the release does not have."""

TEST_CELLS = r"(?i:(test|check|given).*(changed|emptied).*(put back|released|ignored|restored))"
"""Cells that are not the student's to change."""

MISSING_CELLS = r"(?i:cells?.*(missing|deleted|not there|gone|put back))"
"""Cells of the release that the submission has not."""

DOUBLED_CELLS = r"(?i:two|twice|several|doubled?|duplicate|more than one|\d+ (cells|times)|copies)"
"""More than one cell of the same name."""

DIED = r"(?i:(ended|died|exited|killed|was gone|stopped))"
"""The submission's process was gone before the end."""

TIME = r"(?i:(too long|time|seconds|\d s\b|stopped))"
"""A cell, an answer or a submission took too long, or was still running."""

MEMORY = r"(?i:(memory|megabytes?|MB\b|too (large|big)|bytes|shape|killed|ended|died|stopped|takes? too long))"
"""More memory was asked for than there is for a submission; it may show as an error, or as an end."""

HELD = r"(?i:memory|megabytes|\bMB\b)"
"""All processes together held more memory than a submission may."""

PROCESSES = r"(?i:(process|thread|fork|resource|memory|killed|ended|died|stopped|takes? too long))"
"""More processes or threads than a submission may have."""

DISK = r"(?i:(space|disk|files?|large|quota|memory|killed|ended|died|stopped))"
"""More was written than there is room for."""

OUTPUT_CUT = r"(?i:((characters|bytes|lines|output).*(not kept|cut|more|left out)|(cut|shortened).*(output|printed)))"
"""More output than is kept."""

BROKEN_LINE = r"(?i:(answer|ended|died|frame|connection|stopped|killed|broke|interfered))"
"""What came back was no answer, came unasked, or did not come."""

LINK = r"(?i:(is a link|is not a (regular )?file))"
NOT_A_FILE = r"(?i:is not a (regular )?file)"
TOO_LARGE = r"(?i:(bytes|large|MB))"
EMPTY = r"(?i:is empty)"
NOT_A_NOTEBOOK = r"(?i:is (JSON, but )?not an? (sound )?notebook)"
OTHER_FORMAT = r"(?i:format|not a(n?| sound) notebook)"
NO_FILE = r"(?i:there is no file)"
ARCHIVE = r"(?i:(archive|zip).*(outside|path|large|bytes|links?|refused|twice))"
FILES_LEFT = r"(?i:(files?|folder).*(ignored|not taken|left out|beside the notebook))"
"""Other files lie beside the notebook."""

RAISED = r"(?i:(error|exception|raised|exit))"
"""The student's own code raised an exception, whose name the remark gives."""

NOT_AVAILABLE = (
    r"(?i)(ModuleNotFoundError|ImportError|AttributeError|no module|not (available|allowed|importable)|wrong|shape)"
)
"""The library's own answers are not there to be imported."""

LAUNCH = r"(?i:(program \d+|outside|beyond))"
"""A kernel reads or writes where nothing is."""
