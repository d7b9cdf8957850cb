"""JupyterHub on one machine, for a course with several instructors and nbgrader's exchange.

Users are the machine's own (PAM). The instructors share one formgrader, which runs as the account that owns the course.
Change the capitals; the book's page "Appeals, corrections, larger classes" says what has to be there beforehand.
"""

import os

c = get_config()  # noqa: F821  (JupyterHub defines it when it reads this file)

CHECKOUT = os.environ.get("SOFTLOOKUP_CHECKOUT", "/opt/soft-lookup")
COURSE = os.environ.get("SOFTLOOKUP_COURSE", "/srv/softlookup/course")
OWNER = "softlookup"
INSTRUCTORS = ["grace", "alan"]

BIN = f"{CHECKOUT}/.venv/bin"
ENVIRONMENT = {"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin"}

c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.Authenticator.allow_all = True
c.Authenticator.admin_users = {"hub-admin"}
c.Spawner.cmd = [f"{BIN}/jupyterhub-singleuser"]
c.Spawner.environment = ENVIRONMENT
c.Spawner.default_url = "/lab"

c.JupyterHub.services = [
    {
        "name": "formgrader",
        "url": "http://127.0.0.1:9999",
        "command": [f"{BIN}/jupyterhub-singleuser", f"--ServerApp.root_dir={COURSE}"],
        "user": OWNER,
        "cwd": COURSE,
        "environment": {**ENVIRONMENT, "JUPYTERHUB_DEFAULT_URL": "/formgrader"},
        "oauth_no_confirm": True,
    }
]
c.JupyterHub.load_groups = {"formgrade-softlookup": {"users": INSTRUCTORS}}
c.JupyterHub.load_roles = [
    {
        "name": "instructors",
        "groups": ["formgrade-softlookup"],
        "scopes": ["access:services!service=formgrader"],
    },
    {
        "name": "formgrader-service",
        "services": ["formgrader"],
        "scopes": ["list:users", "read:groups"],
    },
]
