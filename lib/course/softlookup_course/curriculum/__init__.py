"""For those who teach: which chapter needs which, routes cut into sessions, and slides."""

from softlookup_course.curriculum.graph import EDGES, NAMES, Edge, needed, shortest_edges
from softlookup_course.curriculum.pages import Page, PageError, Section, read_page
from softlookup_course.curriculum.routes import ROUTES, Route
from softlookup_course.curriculum.sessions import LENGTHS, Session, at_home, sessions
from softlookup_course.curriculum.tables import edges_table, route_table, sessions_table

__all__ = [
    "EDGES",
    "LENGTHS",
    "NAMES",
    "ROUTES",
    "Edge",
    "Page",
    "PageError",
    "Route",
    "Section",
    "Session",
    "at_home",
    "edges_table",
    "needed",
    "read_page",
    "route_table",
    "sessions",
    "sessions_table",
    "shortest_edges",
]
