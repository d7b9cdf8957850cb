"""Chapter 11, arithmetic intensity and the roofline: its tasks in the order of the notebook."""

from softlookup.checks.roofline.counting import INTENSITY, PRODUCT
from softlookup.checks.roofline.fusing import FUSE
from softlookup.checks.roofline.limits import LINK, NEAR, TIME
from softlookup.checks.roofline.rows import ROWS
from softlookup.checks.roofline.sheets import ATTAINABLE, RIDGE, SHEET

TASKS = (
    INTENSITY,
    FUSE,
    PRODUCT,
    SHEET,
    RIDGE,
    ATTAINABLE,
    ROWS,
    NEAR,
    TIME,
    LINK,
)
