# Two images of one course:
#   docker build --target student -t soft-lookup .           JupyterLab on copies of the notebooks
#   docker build --target grader -t soft-lookup-grader .     everything, with the sandbox and a browser
FROM python:3.12-slim AS student
COPY . /opt/soft-lookup
WORKDIR /opt/soft-lookup
RUN pip install --no-cache-dir -c constraints.txt '.[student]' \
 && useradd --create-home student \
 && cp -r exercises ~student/soft-lookup \
 && chown -R student ~student/soft-lookup
USER student
EXPOSE 8888
CMD ["sh", "-c", "cd ~/soft-lookup && exec jupyter lab --ip=0.0.0.0 --no-browser"]

# The sandbox makes namespaces, which a container has to allow: docker run --security-opt seccomp=unconfined.
FROM python:3.12-slim AS grader
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap chromium git make \
 && rm -rf /var/lib/apt/lists/*
COPY . /soft-lookup
WORKDIR /soft-lookup
RUN make setup
ENV PATH=/soft-lookup/.venv/bin:$PATH
CMD ["bash"]
