# docker build --target cpu -t tfaccel .          docker build --target gpu -t tfaccel:gpu .
# docker run tfaccel                              docker run --gpus all tfaccel:gpu
FROM python:3.11-slim-bookworm AS base
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN useradd --create-home --uid 1000 trainer
RUN mkdir /data /runs && chown trainer /data /runs
COPY setup.cfg pyproject.toml README.md LICENSE /app/
COPY tfaccel /app/tfaccel
WORKDIR /
VOLUME ["/data", "/runs"]
EXPOSE 6006
CMD ["python", "-m", "tfaccel.recipes.mobilenet"]

FROM base AS gpu
RUN pip install '/app[gpu]'
USER trainer

FROM base AS cpu
RUN pip install /app
USER trainer
