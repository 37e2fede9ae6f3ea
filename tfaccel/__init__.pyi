from .comparing.rounds import compare as compare
from .config import Config as Config
from .data import open_source as open_source
from .data.dataset import from_dataset as from_dataset
from .errors import UsageError as UsageError
from .host import Host as Host
from .job import Examples as Examples
from .job import Job as Job
from .job import Source as Source
from .measure.measurement import Measurement as Measurement
from .measure.trial import Comparison as Comparison
from .plan import Plan as Plan
from .plan import Technique as Technique
from .schedules import Cosine as Cosine
from .techniques import parse_plan as parse_plan
from .training import train as train

__version__: str
