"""Memory of a training run: the ledger, its terms, the profiles of frameworks, and what they were measured to need.

Left out: activations in the host's memory, ZeRO within a part of the copies (HSDP), experts cut by another tensor
degree than the rest, buffers of overlapped tensor parallelism, pools of CUDA graphs, evaluation and checkpoint peaks.
"""

from lib.memory.about import GROUPS as GROUPS
from lib.memory.entries import COUNTERS as COUNTERS
from lib.memory.entries import PHASES as PHASES
from lib.memory.entries import Ledger as Ledger
from lib.memory.entries import Phase as Phase
from lib.memory.entries import StageLedger as StageLedger
from lib.memory.entries import ledger as ledger
from lib.memory.loss import LOSSES as LOSSES
from lib.memory.loss import logit_bytes as logit_bytes
from lib.memory.loss import padded_vocabulary as padded_vocabulary
from lib.memory.many import peak_bytes as peak_bytes
from lib.memory.profiles import PROFILES as PROFILES
from lib.memory.profiles import Profile as Profile
from lib.memory.profiles import profile as profile
from lib.memory.saved import head_bytes as head_bytes
from lib.memory.saved import saved_bytes as saved_bytes
from lib.memory.states import OPTIMIZERS as OPTIMIZERS
from lib.memory.states import PRECISIONS as PRECISIONS
from lib.memory.states import state_bytes as state_bytes
from lib.memory.terms import Term as Term
from lib.memory.verdict import HEADROOM as HEADROOM
from lib.memory.verdict import Change as Change
from lib.memory.verdict import Fit as Fit
from lib.memory.verdict import changes as changes
from lib.memory.verdict import expert_band as expert_band
from lib.memory.verdict import fit as fit
from lib.memory.verdict import largest as largest
