"""Chapter 11, arithmetic intensity and the roofline: its tasks in the order of the notebook."""

from softlookup.tasks.ch11_roofline.counting import INTENSITY, PRODUCT
from softlookup.tasks.ch11_roofline.fusing import FUSE
from softlookup.tasks.ch11_roofline.limits import LINK, NEAR, TIME
from softlookup.tasks.ch11_roofline.rows import ROWS
from softlookup.tasks.ch11_roofline.sheets import ATTAINABLE, RIDGE, SHEET

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
