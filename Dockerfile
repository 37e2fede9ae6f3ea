# docker build --target cpu -t tfaccel .          docker build --target gpu -t tfaccel:gpu .
# docker run tfaccel                              docker run --gpus all tfaccel:gpu
FROM python:3.11-slim-bookworm AS base
RUN useradd --create-home --uid 1000 trainer
WORKDIR /app
COPY setup.cfg pyproject.toml README.md LICENSE ./
COPY tfaccel tfaccel
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

FROM base AS gpu
RUN pip install '.[gpu]'
RUN mkdir /data /runs && chown trainer /data /runs
USER trainer
WORKDIR /
VOLUME ["/data", "/runs"]
EXPOSE 6006
CMD ["python", "-m", "tfaccel.recipes.mobilenet"]

FROM base AS cpu
RUN pip install .
RUN mkdir /data /runs && chown trainer /data /runs
USER trainer
WORKDIR /
VOLUME ["/data", "/runs"]
EXPOSE 6006
CMD ["python", "-m", "tfaccel.recipes.mobilenet"]
