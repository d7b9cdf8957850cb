# Two images of one course:
#   docker build --target student -t soft-lookup .           JupyterLab on copies of the notebooks
#   docker build --target grader -t soft-lookup-grader .     everything, with the sandbox and a browser
FROM python:3.12-slim AS student
COPY . /opt/soft-lookup
WORKDIR /opt/soft-lookup
RUN pip install --no-cache-dir -c constraints.txt '.[student]' \
 && useradd --uid 1000 --create-home student \
 && cp -r exercises ~student/soft-lookup \
 && chown -R student ~student/soft-lookup
USER 1000
EXPOSE 8888
CMD ["sh", "-c", "cd ~/soft-lookup && exec jupyter lab --ip=0.0.0.0 --no-browser"]

# The sandbox makes namespaces and mounts a /proc, which a container has to allow, and root in a container may not:
#   docker run -it --security-opt seccomp=unconfined --security-opt systempaths=unconfined \
#     --user "$(id -u):$(id -g)" -v "$PWD/course:/course" soft-lookup-grader
# 'softlookup doctor' in it says what is missing. With --user, the course belongs to whoever owns it outside.
FROM python:3.12-slim AS grader
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap chromium git make \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home grader \
 && install -d -m 700 -o grader -g grader /course \
 && install -d -o grader -g grader /soft-lookup
WORKDIR /soft-lookup
COPY --chown=grader:grader . .
# A number, so that Kubernetes can see that it is not root (runAsNonRoot).
USER 10001
RUN make setup
# Whoever --user names has no home of their own.
ENV PATH=/soft-lookup/.venv/bin:$PATH HOME=/tmp
WORKDIR /
CMD ["bash"]
