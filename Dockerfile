# codeaudit in a container, in two sizes:
#
#     docker build --target light -t codeaudit:light .     endpoints, programs, gate, compare and report
#     docker build -t codeaudit .                          everything, with torch for CPUs
#     docker run --rm -v "$PWD:/work" codeaudit:light run --model openai/MODEL --base-url URL --corpus src
#
# For GPUs, name an index of PyTorch with its CUDA version: --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu128

FROM python:3.12-slim AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY codeaudit codeaudit
# codeaudit/audit, codeaudit/reports and codeaudit/transforms are links to these.
COPY audit audit
COPY reports reports
COPY transforms transforms
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim AS small
# Files that a run writes belong to this user; `docker run --user "$(id -u):$(id -g)"` makes them yours.
RUN useradd --create-home --uid 1000 auditor
ENV CODEAUDIT_CACHE=/tmp/codeaudit
WORKDIR /work
ENTRYPOINT ["codeaudit"]
CMD ["--help"]

FROM small AS light
COPY requirements-light.txt /tmp/
COPY --from=wheel /wheels /tmp/wheels
RUN pip install --no-cache-dir --no-compile --no-deps -r /tmp/requirements-light.txt /tmp/wheels/*.whl
USER 1000

FROM small AS full
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY --from=wheel /wheels /tmp/wheels
RUN pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" /tmp/wheels/*.whl
USER 1000
