"""Types and raw operations of Keepsake's HTTP API."""

# Written by `node scripts/python-client.ts`; a test compares. Change the source, not this file.

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, cast

from ._transport import AsyncTransport, SyncTransport


_AssociationRequired = TypedDict(
    "_AssociationRequired",
    {
        "from": "str",
        "type": "AssociationType",
        "to": "str",
        "strength": "float",
    },
)


class _AssociationOptional(TypedDict, total=False):
    pass


class Association(_AssociationRequired, _AssociationOptional):
    """The fields of Association."""


class _AssociationPageRequired(TypedDict):
    items: List[Association]
    total: int


class _AssociationPageOptional(TypedDict, total=False):
    cursor: str
    next_cursor: str


class AssociationPage(_AssociationPageRequired, _AssociationPageOptional):
    """The fields of AssociationPage."""


class _AssociationReceiptRequired(TypedDict):
    revision: int
    linked: List[Association]
    unlinked: List[Association]


class _AssociationReceiptOptional(TypedDict, total=False):
    pass


class AssociationReceipt(_AssociationReceiptRequired, _AssociationReceiptOptional):
    """The fields of AssociationReceipt."""


_AssociationStepRequired = TypedDict(
    "_AssociationStepRequired",
    {
        "from": "str",
        "type": "AssociationType",
        "to": "str",
        "strength": "float",
    },
)


class _AssociationStepOptional(TypedDict, total=False):
    inferred: Literal["told together", "about the same"]


class AssociationStep(_AssociationStepRequired, _AssociationStepOptional):
    """The fields of AssociationStep."""


class _AttachmentRequired(TypedDict):
    id: str
    user_id: str
    type: Literal["image", "audio"]
    is_kept: bool
    message: str
    at: str


class _AttachmentOptional(TypedDict, total=False):
    media_type: str
    size: int
    url: str
    description: str
    described_by: Literal["model"]
    session: str


class Attachment(_AttachmentRequired, _AttachmentOptional):
    """The fields of Attachment."""


class _BudgetRequired(TypedDict):
    of: Literal["project", "user"]
    per: Literal["day", "month"]
    unit: Literal["usd", "tokens"]
    limit: float
    spent: float
    left: float
    until: str


class _BudgetOptional(TypedDict, total=False):
    pass


class Budget(_BudgetRequired, _BudgetOptional):
    """The fields of Budget."""


class _ClaimRequired(TypedDict):
    subject: str
    relation: str
    value: str


class _ClaimOptional(TypedDict, total=False):
    qualifier: str


class Claim(_ClaimRequired, _ClaimOptional):
    """The fields of Claim."""


class _ContextPartsRequired(TypedDict):
    standing: str
    request: str


class _ContextPartsOptional(TypedDict, total=False):
    pass


class ContextParts(_ContextPartsRequired, _ContextPartsOptional):
    """The same text in two parts, for providers that cache the beginning of a prompt."""


class _ContextRequired(TypedDict):
    text: str
    tokens: int
    parts: ContextParts
    items: List[Item]
    left: int
    recall_id: str


class _ContextOptional(TypedDict, total=False):
    pass


class Context(_ContextRequired, _ContextOptional):
    """What a model is told before it answers a request."""


class _ConversationReplyMemoriesUsedRequired(TypedDict):
    id: str
    type: Literal["memory", "passage"]
    content: str
    text: str


class _ConversationReplyMemoriesUsedOptional(TypedDict, total=False):
    pass


class ConversationReplyMemoriesUsed(_ConversationReplyMemoriesUsedRequired, _ConversationReplyMemoriesUsedOptional):
    """The fields of ConversationReplyMemoriesUsed."""


class _ConversationReplyUsageRequired(TypedDict):
    memories_used: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    total_tokens: int


class _ConversationReplyUsageOptional(TypedDict, total=False):
    pass


class ConversationReplyUsage(_ConversationReplyUsageRequired, _ConversationReplyUsageOptional):
    """The fields of ConversationReplyUsage."""


class _ConversationReplyRequired(TypedDict):
    reply: str
    by: Literal["model", "memory"]
    memories_used: List[ConversationReplyMemoriesUsed]
    receipt: Receipt
    turn_number: int
    usage: ConversationReplyUsage


class _ConversationReplyOptional(TypedDict, total=False):
    model: str
    trouble: Literal["unavailable", "slow", "over_quota", "refused", "empty", "ungrounded", "cut", "failed", "busy"]


class ConversationReply(_ConversationReplyRequired, _ConversationReplyOptional):
    """The fields of ConversationReply."""


class _ErasurePlanMemoriesRequired(TypedDict):
    id: str
    text: str
    display: str


class _ErasurePlanMemoriesOptional(TypedDict, total=False):
    pass


class ErasurePlanMemories(_ErasurePlanMemoriesRequired, _ErasurePlanMemoriesOptional):
    """The fields of ErasurePlanMemories."""


class _ErasurePlanMessagesRequired(TypedDict):
    id: str
    at: str
    words: List[str]


class _ErasurePlanMessagesOptional(TypedDict, total=False):
    attachments: int


class ErasurePlanMessages(_ErasurePlanMessagesRequired, _ErasurePlanMessagesOptional):
    """The fields of ErasurePlanMessages."""


class _ErasurePlanUnsureMemoriesRequired(TypedDict):
    id: str
    text: str


class _ErasurePlanUnsureMemoriesOptional(TypedDict, total=False):
    pass


class ErasurePlanUnsureMemories(_ErasurePlanUnsureMemoriesRequired, _ErasurePlanUnsureMemoriesOptional):
    """The fields of ErasurePlanUnsureMemories."""


class _ErasurePlanUnsureQuotesRequired(TypedDict):
    message: str
    at: str
    quote: str


class _ErasurePlanUnsureQuotesOptional(TypedDict, total=False):
    pass


class ErasurePlanUnsureQuotes(_ErasurePlanUnsureQuotesRequired, _ErasurePlanUnsureQuotesOptional):
    """The fields of ErasurePlanUnsureQuotes."""


class _ErasurePlanUnsureRequired(TypedDict):
    about: str
    memories: List[ErasurePlanUnsureMemories]
    quotes: List[ErasurePlanUnsureQuotes]


class _ErasurePlanUnsureOptional(TypedDict, total=False):
    pass


class ErasurePlanUnsure(_ErasurePlanUnsureRequired, _ErasurePlanUnsureOptional):
    """The fields of ErasurePlanUnsure."""


class _ErasurePlanRequired(TypedDict):
    dry_run: Literal[True]
    revision: int
    memories: List[ErasurePlanMemories]
    messages: List[ErasurePlanMessages]


class _ErasurePlanOptional(TypedDict, total=False):
    unsure: List[ErasurePlanUnsure]


class ErasurePlan(_ErasurePlanRequired, _ErasurePlanOptional):
    """What an erasure would remove. Nothing is erased yet."""


class _ErasureReceiptBackupsRequired(TypedDict):
    name: str
    at: str


class _ErasureReceiptBackupsOptional(TypedDict, total=False):
    until: str


class ErasureReceiptBackups(_ErasureReceiptBackupsRequired, _ErasureReceiptBackupsOptional):
    """The fields of ErasureReceiptBackups."""


class _ErasureReceiptRemainsRequired(TypedDict):
    place: str


class _ErasureReceiptRemainsOptional(TypedDict, total=False):
    until: str


class ErasureReceiptRemains(_ErasureReceiptRemainsRequired, _ErasureReceiptRemainsOptional):
    """The fields of ErasureReceiptRemains."""


class _ErasureReceiptVerifiedRequired(TypedDict):
    place: str
    found: int


class _ErasureReceiptVerifiedOptional(TypedDict, total=False):
    until: str
    why: Literal["not reached"]


class ErasureReceiptVerified(_ErasureReceiptVerifiedRequired, _ErasureReceiptVerifiedOptional):
    """The fields of ErasureReceiptVerified."""


class _ErasureReceiptUnsureMemoriesRequired(TypedDict):
    id: str
    text: str


class _ErasureReceiptUnsureMemoriesOptional(TypedDict, total=False):
    pass


class ErasureReceiptUnsureMemories(_ErasureReceiptUnsureMemoriesRequired, _ErasureReceiptUnsureMemoriesOptional):
    """The fields of ErasureReceiptUnsureMemories."""


class _ErasureReceiptUnsureQuotesRequired(TypedDict):
    message: str
    at: str
    quote: str


class _ErasureReceiptUnsureQuotesOptional(TypedDict, total=False):
    pass


class ErasureReceiptUnsureQuotes(_ErasureReceiptUnsureQuotesRequired, _ErasureReceiptUnsureQuotesOptional):
    """The fields of ErasureReceiptUnsureQuotes."""


class _ErasureReceiptUnsureRequired(TypedDict):
    about: str
    memories: List[ErasureReceiptUnsureMemories]
    quotes: List[ErasureReceiptUnsureQuotes]


class _ErasureReceiptUnsureOptional(TypedDict, total=False):
    pass


class ErasureReceiptUnsure(_ErasureReceiptUnsureRequired, _ErasureReceiptUnsureOptional):
    """The fields of ErasureReceiptUnsure."""


class _ErasureReceiptRequired(TypedDict):
    id: str
    at: str
    project: str
    user: str
    revision: int
    erased: Dict[str, Any]
    ids: List[str]
    verified: List[ErasureReceiptVerified]
    complete: bool
    previous: str
    hash: str
    signature: str


class _ErasureReceiptOptional(TypedDict, total=False):
    version: Literal[2]
    backups: List[ErasureReceiptBackups]
    remains: List[ErasureReceiptRemains]
    trace: str
    replays: str
    key: str
    unsure: List[ErasureReceiptUnsure]


class ErasureReceipt(_ErasureReceiptRequired, _ErasureReceiptOptional):
    """What was erased, from where, and the proof. It contains no erased text."""


class _GivenPromptsItemsRequired(TypedDict):
    at: str
    door: Literal["proxy", "context", "mcp"]
    request: str
    text: str
    tokens: int


class _GivenPromptsItemsOptional(TypedDict, total=False):
    session_id: str
    message_id: str
    recall_id: str


class GivenPromptsItems(_GivenPromptsItemsRequired, _GivenPromptsItemsOptional):
    """The fields of GivenPromptsItems."""


class _GivenPromptsRequired(TypedDict):
    items: List[GivenPromptsItems]
    total: int


class _GivenPromptsOptional(TypedDict, total=False):
    pass


class GivenPrompts(_GivenPromptsRequired, _GivenPromptsOptional):
    """The fields of GivenPrompts."""


class _GrantToGroupRequired(TypedDict):
    id: str
    name: str


class _GrantToGroupOptional(TypedDict, total=False):
    pass


class GrantToGroup(_GrantToGroupRequired, _GrantToGroupOptional):
    """The fields of GrantToGroup."""


class _GrantWhatRequired(TypedDict):
    pass


class _GrantWhatOptional(TypedDict, total=False):
    everything: Literal[True]
    kinds: List[Literal["fact", "preference", "commitment", "instruction", "entity", "event", "reflection", "context", "semantic", "episodic", "procedural"]]
    about: List[str]
    where: Dict[str, Any]
    where_text: Dict[str, Any]
    ids: List[str]
    sensitive: Literal[True]
    messages: Literal[True]


class GrantWhat(_GrantWhatRequired, _GrantWhatOptional):
    """The fields of GrantWhat."""


class _GrantRequired(TypedDict):
    id: str
    owner: str
    what: GrantWhat
    at: str
    state: Literal["active", "declined", "expired", "withdrawn"]


class _GrantOptional(TypedDict, total=False):
    to_user: str
    to_group: GrantToGroup
    until: str
    declined_by: List[str]
    withdrawn_at: str


class Grant(_GrantRequired, _GrantOptional):
    """The fields of Grant."""


class _GrantsRequired(TypedDict):
    given: List[Grant]
    received: List[Grant]


class _GrantsOptional(TypedDict, total=False):
    pass


class Grants(_GrantsRequired, _GrantsOptional):
    """The fields of Grants."""


class _GroupRequired(TypedDict):
    id: str
    owner: str
    name: str
    members: List[str]
    at: str


class _GroupOptional(TypedDict, total=False):
    pass


class Group(_GroupRequired, _GroupOptional):
    """The fields of Group."""


class _ImportedLearntRequired(TypedDict):
    id: str
    action: Literal["added", "merged", "superseded", "retracted", "erased", "refused", "quarantined"]
    text: str


class _ImportedLearntOptional(TypedDict, total=False):
    by: str
    why: str


class ImportedLearnt(_ImportedLearntRequired, _ImportedLearntOptional):
    """The fields of ImportedLearnt."""


class _ImportedPassedOverRequired(TypedDict):
    why: str
    count: int


class _ImportedPassedOverOptional(TypedDict, total=False):
    pass


class ImportedPassedOver(_ImportedPassedOverRequired, _ImportedPassedOverOptional):
    """The fields of ImportedPassedOver."""


class _ImportedRequired(TypedDict):
    read: int
    stored: int
    known: int
    memories: int
    import_id: str
    learnt: List[ImportedLearnt]
    passed_over: List[ImportedPassedOver]


class _ImportedOptional(TypedDict, total=False):
    revision: int


class Imported(_ImportedRequired, _ImportedOptional):
    """The fields of Imported."""


class _IssuedKeyRequired(TypedDict):
    id: str
    project: str
    scopes: List[Literal["read", "write", "erase", "admin"]]
    status: Literal["active", "expired"]
    created_at: str
    key: str


class _IssuedKeyOptional(TypedDict, total=False):
    user_id: str
    label: str
    expires_at: str
    last_used_at: str
    old_secret_until: str


class IssuedKey(_IssuedKeyRequired, _IssuedKeyOptional):
    """The fields of IssuedKey."""


class _IssuedWebhookRequired(TypedDict):
    id: str
    project: str
    url: str
    events: List[Literal["content.erased", "memories.changed", "messages.added"]]
    enabled: bool
    status: Literal["active", "failing", "disabled"]
    created_at: str
    delivered: int
    failures: int
    secret: str


class _IssuedWebhookOptional(TypedDict, total=False):
    disabled_for: Literal["gone", "failing"]
    label: str
    old_secret_until: str
    last_delivered_at: str
    failing_since: str
    paused_until: str
    last_problem: str
    last_status: int


class IssuedWebhook(_IssuedWebhookRequired, _IssuedWebhookOptional):
    """The fields of IssuedWebhook."""


class _ItemWhyRerankedRequired(TypedDict):
    rank: int
    score: float


class _ItemWhyRerankedOptional(TypedDict, total=False):
    pass


class ItemWhyReranked(_ItemWhyRerankedRequired, _ItemWhyRerankedOptional):
    """The reranker's rank and score."""


class _ItemWhyRequired(TypedDict):
    arms: Dict[str, Any]
    parts: Dict[str, Any]
    words: List[str]


class _ItemWhyOptional(TypedDict, total=False):
    adds: Dict[str, Any]
    factors: Dict[str, Any]
    reranked: ItemWhyReranked


class ItemWhy(_ItemWhyRequired, _ItemWhyOptional):
    """Only with `explain`."""


class _ItemRequired(TypedDict):
    id: str
    type: Literal["memory", "passage"]
    content: str
    text: str
    status: Status
    score: float
    at: str
    sources: List[Source]


class _ItemOptional(TypedDict, total=False):
    display: str
    kind: Kind
    claim: Claim
    when: str
    valid_from: str
    valid_to: str
    owner: str
    grant: str
    why: ItemWhy


class Item(_ItemRequired, _ItemOptional):
    """The fields of Item."""


class _JobRequired(TypedDict):
    name: JobName
    about: str
    state: Literal["running", "failing", "scheduled", "idle"]
    done: int
    attempts: int


class _JobOptional(TypedDict, total=False):
    last_run: str
    took_ms: int
    next_run: str
    left: int
    found: int
    problem: str
    set_aside: int


class Job(_JobRequired, _JobOptional):
    """The fields of Job."""


class _KeyRequired(TypedDict):
    id: str
    project: str
    scopes: List[Literal["read", "write", "erase", "admin"]]
    status: Literal["active", "expired"]
    created_at: str


class _KeyOptional(TypedDict, total=False):
    user_id: str
    label: str
    expires_at: str
    last_used_at: str
    old_secret_until: str


class Key(_KeyRequired, _KeyOptional):
    """The fields of Key."""


class _LogRequired(TypedDict):
    items: List[LogEntry]


class _LogOptional(TypedDict, total=False):
    cursor: str
    next_cursor: str


class Log(_LogRequired, _LogOptional):
    """The fields of Log."""


class _LogEntryMemoriesRequired(TypedDict):
    id: str
    version: int
    action: Literal["added", "merged", "updated", "superseded", "retracted", "erased", "refused", "quarantined", "restored"]


class _LogEntryMemoriesOptional(TypedDict, total=False):
    pass


class LogEntryMemories(_LogEntryMemoriesRequired, _LogEntryMemoriesOptional):
    """The fields of LogEntryMemories."""


class _LogEntryRequired(TypedDict):
    revision: int
    at: str
    cause: str
    messages: List[str]
    memories: List[LogEntryMemories]
    erased: List[str]


class _LogEntryOptional(TypedDict, total=False):
    undoes: int
    import_id: str
    extractor: Literal["local", "model"]
    linked: List[Association]
    unlinked: List[Association]


class LogEntry(_LogEntryRequired, _LogEntryOptional):
    """The effect of one change, by ids."""


class _MemoryUsageRequired(TypedDict):
    count: int


class _MemoryUsageOptional(TypedDict, total=False):
    last_at: str


class MemoryUsage(_MemoryUsageRequired, _MemoryUsageOptional):
    """How often recalls returned it."""


class _MemoryReviewRequired(TypedDict):
    since: str
    revision: int
    because: List[str]


class _MemoryReviewOptional(TypedDict, total=False):
    pass


class MemoryReview(_MemoryReviewRequired, _MemoryReviewOptional):
    """It depends on something that has changed, and nobody has reviewed it since."""


class _MemoryRequired(TypedDict):
    id: str
    user_id: str
    content: str
    text: str
    display: str
    type: Kind
    kind: Kind
    status: Status
    version: int
    confidence: float
    importance: float
    evidence: int
    origin: Origin
    at: str
    created_at: str
    stored_at: str
    updated_at: str
    sources: List[Source]
    revision: int
    action: Literal["added", "merged", "updated", "superseded", "retracted", "erased", "refused", "quarantined", "restored"]


class _MemoryOptional(TypedDict, total=False):
    claim: Claim
    agent: str
    session: str
    source_turn: Any
    valid_from: str
    valid_to: str
    when: str
    expires_at: str
    quarantined: bool
    archived: bool
    sensitive: bool
    metadata: Dict[str, Any]
    usage: MemoryUsage
    access_count: int
    last_accessed: str
    decay_score: float
    superseded_by: str
    review: MemoryReview
    why: str


class Memory(_MemoryRequired, _MemoryOptional):
    """The fields of Memory."""


class _MemoryClustersItemsRequired(TypedDict):
    name: str
    words: List[str]
    size: int
    memories: List[Memory]


class _MemoryClustersItemsOptional(TypedDict, total=False):
    pass


class MemoryClustersItems(_MemoryClustersItemsRequired, _MemoryClustersItemsOptional):
    """The fields of MemoryClustersItems."""


class _MemoryClustersRequired(TypedDict):
    items: List[MemoryClustersItems]
    total: int
    left: int


class _MemoryClustersOptional(TypedDict, total=False):
    pass


class MemoryClusters(_MemoryClustersRequired, _MemoryClustersOptional):
    """The fields of MemoryClusters."""


class _MemoryFacetsItemsRequired(TypedDict):
    value: str
    count: int


class _MemoryFacetsItemsOptional(TypedDict, total=False):
    pass


class MemoryFacetsItems(_MemoryFacetsItemsRequired, _MemoryFacetsItemsOptional):
    """The fields of MemoryFacetsItems."""


class _MemoryFacetsRequired(TypedDict):
    items: List[MemoryFacetsItems]
    total: int
    left: int


class _MemoryFacetsOptional(TypedDict, total=False):
    pass


class MemoryFacets(_MemoryFacetsRequired, _MemoryFacetsOptional):
    """The fields of MemoryFacets."""


class _MemoryPageRequired(TypedDict):
    items: List[Memory]
    total: int


class _MemoryPageOptional(TypedDict, total=False):
    cursor: str
    next_cursor: str


class MemoryPage(_MemoryPageRequired, _MemoryPageOptional):
    """The fields of MemoryPage."""


class _MessagePartsRequired(TypedDict):
    type: str


class _MessagePartsOptional(TypedDict, total=False):
    pass


class MessageParts(_MessagePartsRequired, _MessagePartsOptional):
    """The fields of MessageParts."""


class _MessageRequired(TypedDict):
    id: str
    turn: int
    role: Role
    content: str
    at: str


class _MessageOptional(TypedDict, total=False):
    name: str
    parts: List[MessageParts]
    metadata: Dict[str, Any]


class Message(_MessageRequired, _MessageOptional):
    """The fields of Message."""


class _OptimizedJobsMemoriesRequired(TypedDict):
    id: str
    action: Literal["expired", "merged", "archived", "faded"]
    text: str
    why: str


class _OptimizedJobsMemoriesOptional(TypedDict, total=False):
    by: str
    by_text: str


class OptimizedJobsMemories(_OptimizedJobsMemoriesRequired, _OptimizedJobsMemoriesOptional):
    """The fields of OptimizedJobsMemories."""


class _OptimizedJobsRequired(TypedDict):
    name: JobName
    memories: List[OptimizedJobsMemories]


class _OptimizedJobsOptional(TypedDict, total=False):
    revisions: List[int]


class OptimizedJobs(_OptimizedJobsRequired, _OptimizedJobsOptional):
    """The fields of OptimizedJobs."""


class _OptimizedRequired(TypedDict):
    dry_run: bool
    revision: int
    jobs: List[OptimizedJobs]


class _OptimizedOptional(TypedDict, total=False):
    pass


class Optimized(_OptimizedRequired, _OptimizedOptional):
    """The fields of Optimized."""


class _ProblemErrorsRequired(TypedDict):
    field: str
    problem: str


class _ProblemErrorsOptional(TypedDict, total=False):
    pass


class ProblemErrors(_ProblemErrorsRequired, _ProblemErrorsOptional):
    """The fields of ProblemErrors."""


class _ProblemErrorRequired(TypedDict):
    message: str


class _ProblemErrorOptional(TypedDict, total=False):
    pass


class ProblemError(_ProblemErrorRequired, _ProblemErrorOptional):
    """Under `/v1`: the same in the form of OpenAI's API."""


class _ProblemRequired(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    code: Literal["invalid_input", "forbidden", "not_found", "conflict", "over_quota", "corrupt", "unsupported", "unavailable"]
    request_id: str


class _ProblemOptional(TypedDict, total=False):
    errors: List[ProblemErrors]
    import_id: str
    revision: int
    error: ProblemError


class Problem(_ProblemRequired, _ProblemOptional):
    """A problem document (RFC 9457)."""


class _ProfileSectionsLinesRequired(TypedDict):
    text: str
    memories: List[str]
    sources: List[str]


class _ProfileSectionsLinesOptional(TypedDict, total=False):
    sensitive: bool


class ProfileSectionsLines(_ProfileSectionsLinesRequired, _ProfileSectionsLinesOptional):
    """The fields of ProfileSectionsLines."""


class _ProfileSectionsRequired(TypedDict):
    name: str
    title: str
    lines: List[ProfileSectionsLines]


class _ProfileSectionsOptional(TypedDict, total=False):
    pass


class ProfileSections(_ProfileSectionsRequired, _ProfileSectionsOptional):
    """The fields of ProfileSections."""


class _ProfileRequired(TypedDict):
    user_id: str
    text: str
    sections: List[ProfileSections]
    left: int
    kinds: Dict[str, Any]
    left_of_kinds: Dict[str, Any]


class _ProfileOptional(TypedDict, total=False):
    pass


class Profile(_ProfileRequired, _ProfileOptional):
    """The fields of Profile."""


class _ProjectEmbedderUsersRequired(TypedDict):
    user_id: str
    embedder: str


class _ProjectEmbedderUsersOptional(TypedDict, total=False):
    pass


class ProjectEmbedderUsers(_ProjectEmbedderUsersRequired, _ProjectEmbedderUsersOptional):
    """The fields of ProjectEmbedderUsers."""


class _ProjectEmbedderProgressRequired(TypedDict):
    left: int
    running: bool


class _ProjectEmbedderProgressOptional(TypedDict, total=False):
    problem: str


class ProjectEmbedderProgress(_ProjectEmbedderProgressRequired, _ProjectEmbedderProgressOptional):
    """Of all users of the project."""


_ProjectEmbedderRequired = TypedDict(
    "_ProjectEmbedderRequired",
    {
        "project": "str",
        "embedder": "str",
        "from": "Literal[\"user\", \"project\", \"default\"]",
        "available": "List[str]",
        "configured": "bool",
        "users": "List[ProjectEmbedderUsers]",
        "progress": "ProjectEmbedderProgress",
    },
)


class _ProjectEmbedderOptional(TypedDict, total=False):
    pass


class ProjectEmbedder(_ProjectEmbedderRequired, _ProjectEmbedderOptional):
    """The fields of ProjectEmbedder."""


class _ProjectStatsRequired(TypedDict):
    users: int
    usage: Usage


class _ProjectStatsOptional(TypedDict, total=False):
    pass


class ProjectStats(_ProjectStatsRequired, _ProjectStatsOptional):
    """The fields of ProjectStats."""


class _RecallExplanationValueRerankingRequired(TypedDict):
    name: str
    outcome: Literal["reranked", "late", "failed", "busy"]
    candidates: int


class _RecallExplanationValueRerankingOptional(TypedDict, total=False):
    error: str


class RecallExplanationValueReranking(_RecallExplanationValueRerankingRequired, _RecallExplanationValueRerankingOptional):
    """Only with a reranker."""


class _RecallExplanationValueDroppedRequired(TypedDict):
    id: str
    type: Literal["memory", "passage"]
    score: float
    why: str


class _RecallExplanationValueDroppedOptional(TypedDict, total=False):
    pass


class RecallExplanationValueDropped(_RecallExplanationValueDroppedRequired, _RecallExplanationValueDroppedOptional):
    """The fields of RecallExplanationValueDropped."""


class _RecallExplanationValueRequired(TypedDict):
    query: str
    profile: str
    considered: int
    threshold: float
    dropped: List[RecallExplanationValueDropped]


class _RecallExplanationValueOptional(TypedDict, total=False):
    reranking: RecallExplanationValueReranking


class RecallExplanationValue(_RecallExplanationValueRequired, _RecallExplanationValueOptional):
    """The fields of RecallExplanationValue."""


class _RecallRequired(TypedDict):
    id: str
    items: List[Item]
    context: str
    tokens: int
    abstained: bool


class _RecallOptional(TypedDict, total=False):
    explanation: RecallExplanationValue


class Recall(_RecallRequired, _RecallOptional):
    """The result of a recall."""


class _RecallExplanationBoundsRequired(TypedDict):
    limit: int
    min_score: float


class _RecallExplanationBoundsOptional(TypedDict, total=False):
    as_of: str
    known_at: str
    session: str
    agent: str
    kinds: List[str]
    types: List[str]
    where: Literal[True]
    where_text: Literal[True]
    weights: Dict[str, Any]


class RecallExplanationBounds(_RecallExplanationBoundsRequired, _RecallExplanationBoundsOptional):
    """The fields of RecallExplanationBounds."""


class _RecallExplanationRerankingRequired(TypedDict):
    name: str
    outcome: Literal["reranked", "late", "failed", "busy"]
    candidates: int


class _RecallExplanationRerankingOptional(TypedDict, total=False):
    error: str


class RecallExplanationReranking(_RecallExplanationRerankingRequired, _RecallExplanationRerankingOptional):
    """Only with a reranker."""


class _RecallExplanationItemsRerankedRequired(TypedDict):
    rank: int
    score: float


class _RecallExplanationItemsRerankedOptional(TypedDict, total=False):
    pass


class RecallExplanationItemsReranked(_RecallExplanationItemsRerankedRequired, _RecallExplanationItemsRerankedOptional):
    """The reranker's rank and score."""


class _RecallExplanationItemsRequired(TypedDict):
    id: str
    type: Literal["memory", "passage"]
    now: Literal["current", "superseded", "retracted", "expired", "undone", "erased"]


class _RecallExplanationItemsOptional(TypedDict, total=False):
    score: float
    status: Status
    arms: Dict[str, Any]
    parts: Dict[str, Any]
    adds: Dict[str, Any]
    factors: Dict[str, Any]
    reranked: RecallExplanationItemsReranked
    text: str
    sources: List[Source]


class RecallExplanationItems(_RecallExplanationItemsRequired, _RecallExplanationItemsOptional):
    """The fields of RecallExplanationItems."""


class _RecallExplanationDroppedRequired(TypedDict):
    id: str
    type: Literal["memory", "passage"]
    now: Literal["current", "superseded", "retracted", "expired", "undone", "erased"]


class _RecallExplanationDroppedOptional(TypedDict, total=False):
    score: float
    why: str


class RecallExplanationDropped(_RecallExplanationDroppedRequired, _RecallExplanationDroppedOptional):
    """The fields of RecallExplanationDropped."""


class _RecallExplanationAboutRequired(TypedDict):
    id: str
    reason: str
    text: str


class _RecallExplanationAboutOptional(TypedDict, total=False):
    pass


class RecallExplanationAbout(_RecallExplanationAboutRequired, _RecallExplanationAboutOptional):
    """The fields of RecallExplanationAbout."""


class _RecallExplanationRequired(TypedDict):
    id: str
    at: str
    kind: Literal["recall", "answer"]
    revision: int
    bounds: RecallExplanationBounds
    profile: str
    considered: int
    threshold: float
    items: List[RecallExplanationItems]
    dropped: List[RecallExplanationDropped]


class _RecallExplanationOptional(TypedDict, total=False):
    session: str
    message: str
    reranking: RecallExplanationReranking
    shared: int
    used: List[str]
    about: RecallExplanationAbout


class RecallExplanation(_RecallExplanationRequired, _RecallExplanationOptional):
    """Which items a recall returned or dropped, and why."""


class _ReceiptMemoriesRequired(TypedDict):
    id: str
    action: Literal["added", "merged", "superseded", "retracted", "erased", "refused", "quarantined"]
    text: str
    display: str


class _ReceiptMemoriesOptional(TypedDict, total=False):
    by: str
    why: str


class ReceiptMemories(_ReceiptMemoriesRequired, _ReceiptMemoriesOptional):
    """The fields of ReceiptMemories."""


class _ReceiptWaitingMemoriesRequired(TypedDict):
    id: str
    text: str


class _ReceiptWaitingMemoriesOptional(TypedDict, total=False):
    pass


class ReceiptWaitingMemories(_ReceiptWaitingMemoriesRequired, _ReceiptWaitingMemoriesOptional):
    """The fields of ReceiptWaitingMemories."""


class _ReceiptWaitingQuotesRequired(TypedDict):
    message: str
    at: str
    quote: str


class _ReceiptWaitingQuotesOptional(TypedDict, total=False):
    pass


class ReceiptWaitingQuotes(_ReceiptWaitingQuotesRequired, _ReceiptWaitingQuotesOptional):
    """The fields of ReceiptWaitingQuotes."""


class _ReceiptWaitingRequired(TypedDict):
    action: Literal["erase", "supersede", "retract"]
    memories: List[ReceiptWaitingMemories]
    quotes: List[ReceiptWaitingQuotes]


class _ReceiptWaitingOptional(TypedDict, total=False):
    pass


class ReceiptWaiting(_ReceiptWaitingRequired, _ReceiptWaitingOptional):
    """The fields of ReceiptWaiting."""


class _ReceiptRequired(TypedDict):
    revision: int
    messages: List[str]
    memories: List[ReceiptMemories]
    pending: int


class _ReceiptOptional(TypedDict, total=False):
    hindered: Literal["over_quota", "unavailable"]
    erasures: List[ErasureReceipt]
    waiting: List[ReceiptWaiting]


class Receipt(_ReceiptRequired, _ReceiptOptional):
    """The result of a write, by ids."""


class _ReflectionsItemsRequired(TypedDict):
    kind: Literal["reflection"]
    topic: str
    month: str
    text: str
    by: Literal["memory", "model"]
    memories: List[str]
    sources: List[str]


class _ReflectionsItemsOptional(TypedDict, total=False):
    sensitive: bool


class ReflectionsItems(_ReflectionsItemsRequired, _ReflectionsItemsOptional):
    """The fields of ReflectionsItems."""


class _ReflectionsRequired(TypedDict):
    items: List[ReflectionsItems]
    total: int


class _ReflectionsOptional(TypedDict, total=False):
    pass


class Reflections(_ReflectionsRequired, _ReflectionsOptional):
    """The fields of Reflections."""


class _RelatedMemoriesItemsRequired(TypedDict):
    memory: Memory
    strength: float
    depth: int
    path: List[AssociationStep]


class _RelatedMemoriesItemsOptional(TypedDict, total=False):
    pass


class RelatedMemoriesItems(_RelatedMemoriesItemsRequired, _RelatedMemoriesItemsOptional):
    """The fields of RelatedMemoriesItems."""


class _RelatedMemoriesRequired(TypedDict):
    items: List[RelatedMemoriesItems]
    total: int


class _RelatedMemoriesOptional(TypedDict, total=False):
    pass


class RelatedMemories(_RelatedMemoriesRequired, _RelatedMemoriesOptional):
    """The fields of RelatedMemories."""


class _SessionRequired(TypedDict):
    id: str
    user_id: str
    items: List[Message]
    total: int


class _SessionOptional(TypedDict, total=False):
    cursor: str
    next_cursor: str


class Session(_SessionRequired, _SessionOptional):
    """The fields of Session."""


_SessionPageItemsRequired = TypedDict(
    "_SessionPageItemsRequired",
    {
        "id": "str",
        "messages": "int",
        "from": "str",
        "to": "str",
    },
)


class _SessionPageItemsOptional(TypedDict, total=False):
    pass


class SessionPageItems(_SessionPageItemsRequired, _SessionPageItemsOptional):
    """The fields of SessionPageItems."""


class _SessionPageRequired(TypedDict):
    items: List[SessionPageItems]
    total: int


class _SessionPageOptional(TypedDict, total=False):
    cursor: str
    next_cursor: str


class SessionPage(_SessionPageRequired, _SessionPageOptional):
    """The fields of SessionPage."""


_SettingRequired = TypedDict(
    "_SettingRequired",
    {
        "name": "str",
        "from": "Literal[\"command_line\", \"environment\", \"env_file\", \"settings_file\", \"default\"]",
    },
)


class _SettingOptional(TypedDict, total=False):
    value: str
    hidden: Literal[True]


class Setting(_SettingRequired, _SettingOptional):
    """The fields of Setting."""


class _SharedMemoriesItemsRequired(TypedDict):
    id: str
    text: str
    kind: Kind
    at: str
    owner: str
    grant: str


class _SharedMemoriesItemsOptional(TypedDict, total=False):
    when: str


class SharedMemoriesItems(_SharedMemoriesItemsRequired, _SharedMemoriesItemsOptional):
    """The fields of SharedMemoriesItems."""


class _SharedMemoriesRequired(TypedDict):
    items: List[SharedMemoriesItems]
    total: int


class _SharedMemoriesOptional(TypedDict, total=False):
    pass


class SharedMemories(_SharedMemoriesRequired, _SharedMemoriesOptional):
    """The fields of SharedMemories."""


class _SourceRequired(TypedDict):
    message: str
    quote: str
    start: int
    end: int


class _SourceOptional(TypedDict, total=False):
    role: Role
    at: str
    session: str
    name: str
    attachment: str


class Source(_SourceRequired, _SourceOptional):
    """The fields of Source."""


class _StatsRequired(TypedDict):
    user_id: str
    total: int
    current: int
    superseded: int
    retracted: int
    kinds: Dict[str, Any]
    review: int
    links: int
    messages: int
    pending: int
    revision: int
    usage: Usage


class _StatsOptional(TypedDict, total=False):
    changed_at: str


class Stats(_StatsRequired, _StatsOptional):
    """The fields of Stats."""


class _StoredMessagePartsRequired(TypedDict):
    type: str


class _StoredMessagePartsOptional(TypedDict, total=False):
    pass


class StoredMessageParts(_StoredMessagePartsRequired, _StoredMessagePartsOptional):
    """The fields of StoredMessageParts."""


class _StoredMessageRequired(TypedDict):
    id: str
    turn: int
    role: Role
    content: str
    at: str
    user_id: str


class _StoredMessageOptional(TypedDict, total=False):
    name: str
    parts: List[StoredMessageParts]
    metadata: Dict[str, Any]
    session: str


class StoredMessage(_StoredMessageRequired, _StoredMessageOptional):
    """The fields of StoredMessage."""


class _UsageChatRequired(TypedDict):
    calls: int
    failed: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    cost: float
    unpriced: int


class _UsageChatOptional(TypedDict, total=False):
    pass


class UsageChat(_UsageChatRequired, _UsageChatOptional):
    """The fields of UsageChat."""


class _UsageRowsRequired(TypedDict):
    calls: int
    failed: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    cost: float
    unpriced: int


class _UsageRowsOptional(TypedDict, total=False):
    purpose: Literal["understand", "answer", "embed", "rerank", "describe", "chat"]
    model: str
    day: str


class UsageRows(_UsageRowsRequired, _UsageRowsOptional):
    """The fields of UsageRows."""


class _UsageFailuresRequired(TypedDict):
    purpose: Literal["understand", "answer", "embed", "rerank", "describe", "chat"]
    model: str
    outcome: Literal["ok", "invalid", "refused", "cut", "rate_limited", "timeout", "unreachable", "rejected", "failed", "aborted", "over_budget", "not_tried"]
    calls: int


class _UsageFailuresOptional(TypedDict, total=False):
    pass


class UsageFailures(_UsageFailuresRequired, _UsageFailuresOptional):
    """The fields of UsageFailures."""


class _UsageRequired(TypedDict):
    until: str
    turns: int
    calls: int
    failed: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    cost: float
    unpriced: int
    chat: UsageChat
    rows: List[UsageRows]
    failures: List[UsageFailures]
    budgets: List[Budget]


class _UsageOptional(TypedDict, total=False):
    since: str
    cost_per_thousand_turns: float


class Usage(_UsageRequired, _UsageOptional):
    """The fields of Usage."""


class _UserEmbedderProgressRequired(TypedDict):
    left: int
    running: bool
    total: int


class _UserEmbedderProgressOptional(TypedDict, total=False):
    pass


class UserEmbedderProgress(_UserEmbedderProgressRequired, _UserEmbedderProgressOptional):
    """The fields of UserEmbedderProgress."""


_UserEmbedderRequired = TypedDict(
    "_UserEmbedderRequired",
    {
        "user_id": "str",
        "embedder": "str",
        "from": "Literal[\"user\", \"project\", \"default\"]",
        "available": "List[str]",
        "configured": "bool",
        "progress": "UserEmbedderProgress",
    },
)


class _UserEmbedderOptional(TypedDict, total=False):
    pass


class UserEmbedder(_UserEmbedderRequired, _UserEmbedderOptional):
    """The fields of UserEmbedder."""


class _UserPageItemsRequired(TypedDict):
    user_id: str


class _UserPageItemsOptional(TypedDict, total=False):
    pass


class UserPageItems(_UserPageItemsRequired, _UserPageItemsOptional):
    """The fields of UserPageItems."""


class _UserPageRequired(TypedDict):
    items: List[UserPageItems]
    total: int


class _UserPageOptional(TypedDict, total=False):
    cursor: str
    next_cursor: str


class UserPage(_UserPageRequired, _UserPageOptional):
    """The fields of UserPage."""


class _WebhookRequired(TypedDict):
    id: str
    project: str
    url: str
    events: List[Literal["content.erased", "memories.changed", "messages.added"]]
    enabled: bool
    status: Literal["active", "failing", "disabled"]
    created_at: str
    delivered: int
    failures: int


class _WebhookOptional(TypedDict, total=False):
    disabled_for: Literal["gone", "failing"]
    label: str
    old_secret_until: str
    last_delivered_at: str
    failing_since: str
    paused_until: str
    last_problem: str
    last_status: int


class Webhook(_WebhookRequired, _WebhookOptional):
    """The fields of Webhook."""


class _WebhookAttemptRequired(TypedDict):
    at: str
    event: str
    type: Literal["content.erased", "memories.changed", "messages.added", "webhook.test"]
    attempt: int
    took_ms: int


class _WebhookAttemptOptional(TypedDict, total=False):
    status: int
    problem: str


class WebhookAttempt(_WebhookAttemptRequired, _WebhookAttemptOptional):
    """The fields of WebhookAttempt."""


class _WrittenMemoryUsageRequired(TypedDict):
    count: int


class _WrittenMemoryUsageOptional(TypedDict, total=False):
    last_at: str


class WrittenMemoryUsage(_WrittenMemoryUsageRequired, _WrittenMemoryUsageOptional):
    """How often recalls returned it."""


class _WrittenMemoryReviewRequired(TypedDict):
    since: str
    revision: int
    because: List[str]


class _WrittenMemoryReviewOptional(TypedDict, total=False):
    pass


class WrittenMemoryReview(_WrittenMemoryReviewRequired, _WrittenMemoryReviewOptional):
    """It depends on something that has changed, and nobody has reviewed it since."""


class _WrittenMemoryRequired(TypedDict):
    id: str
    user_id: str
    content: str
    text: str
    display: str
    type: Kind
    kind: Kind
    status: Status
    version: int
    confidence: float
    importance: float
    evidence: int
    origin: Origin
    at: str
    created_at: str
    stored_at: str
    updated_at: str
    sources: List[Source]
    revision: int
    action: Literal["added", "merged", "updated", "superseded", "retracted", "erased", "refused", "quarantined", "restored"]
    receipt: Receipt


class _WrittenMemoryOptional(TypedDict, total=False):
    claim: Claim
    agent: str
    session: str
    source_turn: Any
    valid_from: str
    valid_to: str
    when: str
    expires_at: str
    quarantined: bool
    archived: bool
    sensitive: bool
    metadata: Dict[str, Any]
    usage: WrittenMemoryUsage
    access_count: int
    last_accessed: str
    decay_score: float
    superseded_by: str
    review: WrittenMemoryReview
    why: str


class WrittenMemory(_WrittenMemoryRequired, _WrittenMemoryOptional):
    """The fields of WrittenMemory."""


class _GetHealthResponseChecksRequired(TypedDict):
    name: Literal["durability", "format", "file", "disk", "secret", "rows", "digests", "erasures", "jobs", "indexes", "webhooks", "writes"]
    state: Literal["ok", "warning"]
    says: str


class _GetHealthResponseChecksOptional(TypedDict, total=False):
    count: float


class GetHealthResponseChecks(_GetHealthResponseChecksRequired, _GetHealthResponseChecksOptional):
    """The fields of GetHealthResponseChecks."""


class _GetHealthResponseDependenciesRequired(TypedDict):
    kind: Literal["record", "sessions", "cache", "queue", "index", "embedder", "model", "reranker", "backups", "identity_provider"]
    state: Literal["up", "degraded", "down"]
    since: str


class _GetHealthResponseDependenciesOptional(TypedDict, total=False):
    name: str
    problem: Literal["slow", "silent", "circuit", "failing", "behind", "overdue"]
    lastSuccess: str


class GetHealthResponseDependencies(_GetHealthResponseDependenciesRequired, _GetHealthResponseDependenciesOptional):
    """The fields of GetHealthResponseDependencies."""


class _GetHealthResponseRequired(TypedDict):
    status: Literal["ok", "degraded", "down"]


class _GetHealthResponseOptional(TypedDict, total=False):
    durability: Literal["full", "reduced", "none", "unknown"]
    checkedAt: str
    checks: List[GetHealthResponseChecks]
    dependencies: List[GetHealthResponseDependencies]


class GetHealthResponse(_GetHealthResponseRequired, _GetHealthResponseOptional):
    """The fields of GetHealthResponse."""


class _GetReadinessResponseChecksRequired(TypedDict):
    name: Literal["durability", "format", "file", "disk", "secret", "rows", "digests", "erasures", "jobs", "indexes", "webhooks", "writes"]
    state: Literal["ok", "warning"]
    says: str


class _GetReadinessResponseChecksOptional(TypedDict, total=False):
    count: float


class GetReadinessResponseChecks(_GetReadinessResponseChecksRequired, _GetReadinessResponseChecksOptional):
    """The fields of GetReadinessResponseChecks."""


class _GetReadinessResponseDependenciesRequired(TypedDict):
    kind: Literal["record", "sessions", "cache", "queue", "index", "embedder", "model", "reranker", "backups", "identity_provider"]
    state: Literal["up", "degraded", "down"]
    since: str


class _GetReadinessResponseDependenciesOptional(TypedDict, total=False):
    name: str
    problem: Literal["slow", "silent", "circuit", "failing", "behind", "overdue"]
    lastSuccess: str


class GetReadinessResponseDependencies(_GetReadinessResponseDependenciesRequired, _GetReadinessResponseDependenciesOptional):
    """The fields of GetReadinessResponseDependencies."""


class _GetReadinessResponseRequired(TypedDict):
    status: Literal["ready"]


class _GetReadinessResponseOptional(TypedDict, total=False):
    durability: Literal["full", "reduced", "none", "unknown"]
    degraded: List[str]
    checks: List[GetReadinessResponseChecks]
    dependencies: List[GetReadinessResponseDependencies]
    notices: List[str]


class GetReadinessResponse(_GetReadinessResponseRequired, _GetReadinessResponseOptional):
    """The fields of GetReadinessResponse."""


class _ConverseBodyRequired(TypedDict):
    user_id: NewName
    message: Spoken


class _ConverseBodyOptional(TypedDict, total=False):
    turn_number: int | None
    session_id: NewName | None
    include_memories: bool | None
    stream: bool | None


class ConverseBody(_ConverseBodyRequired, _ConverseBodyOptional):
    """The fields of ConverseBody."""


class _AddMessagesBodyMessagesContentRequired(TypedDict):
    type: Text


class _AddMessagesBodyMessagesContentOptional(TypedDict, total=False):
    pass


class AddMessagesBodyMessagesContent(_AddMessagesBodyMessagesContentRequired, _AddMessagesBodyMessagesContentOptional):
    """The fields of AddMessagesBodyMessagesContent."""


class _AddMessagesBodyMessagesRequired(TypedDict):
    role: Literal["user", "assistant", "system", "tool"]
    content: SpokenInBatch | List[AddMessagesBodyMessagesContent]


class _AddMessagesBodyMessagesOptional(TypedDict, total=False):
    id: Name | None
    name: Name | None
    at: Moment | None
    session_id: NewName | None
    metadata: Dict[str, Any] | None


class AddMessagesBodyMessages(_AddMessagesBodyMessagesRequired, _AddMessagesBodyMessagesOptional):
    """The fields of AddMessagesBodyMessages."""


class _AddMessagesBodyRequired(TypedDict):
    user_id: NewName
    messages: List[AddMessagesBodyMessages]


class _AddMessagesBodyOptional(TypedDict, total=False):
    session_id: NewName | None


class AddMessagesBody(_AddMessagesBodyRequired, _AddMessagesBodyOptional):
    """The fields of AddMessagesBody."""


_LinkMemoriesBodyRequired = TypedDict(
    "_LinkMemoriesBodyRequired",
    {
        "from": "Name",
        "to": "Name",
    },
)


class _LinkMemoriesBodyOptional(TypedDict, total=False):
    type: Literal["related_to", "extends", "contradicts", "derived_from", "depends_on"] | None
    strength: float | None


class LinkMemoriesBody(_LinkMemoriesBodyRequired, _LinkMemoriesBodyOptional):
    """The fields of LinkMemoriesBody."""


class _ShareBodyRequired(TypedDict):
    pass


class _ShareBodyOptional(TypedDict, total=False):
    to_user: NewName | None
    to_group: Name | None
    until: Moment | None
    everything: bool | None
    kinds: List[Literal["fact", "preference", "commitment", "instruction", "entity", "event", "reflection", "context", "semantic", "episodic", "procedural"]] | None
    about: List[str] | None
    where: Dict[str, Any] | None
    where_text: Dict[str, Any] | None
    ids: List[Name] | None
    sensitive: bool | None
    messages: bool | None


class ShareBody(_ShareBodyRequired, _ShareBodyOptional):
    """The fields of ShareBody."""


class _AnswerGrantBodyRequired(TypedDict):
    declined: bool


class _AnswerGrantBodyOptional(TypedDict, total=False):
    pass


class AnswerGrantBody(_AnswerGrantBodyRequired, _AnswerGrantBodyOptional):
    """The fields of AnswerGrantBody."""


class _SaveGroupBodyRequired(TypedDict):
    name: NewName
    members: List[NewName]


class _SaveGroupBodyOptional(TypedDict, total=False):
    pass


class SaveGroupBody(_SaveGroupBodyRequired, _SaveGroupBodyOptional):
    """The fields of SaveGroupBody."""


class _ListGroupsResponseRequired(TypedDict):
    groups: List[Group]


class _ListGroupsResponseOptional(TypedDict, total=False):
    pass


class ListGroupsResponse(_ListGroupsResponseRequired, _ListGroupsResponseOptional):
    """The fields of ListGroupsResponse."""


class _AddMemoryBodyClaimRequired(TypedDict):
    subject: Text
    relation: Text
    value: Text


class _AddMemoryBodyClaimOptional(TypedDict, total=False):
    qualifier: Text | None


class AddMemoryBodyClaim(_AddMemoryBodyClaimRequired, _AddMemoryBodyClaimOptional):
    """The fields of AddMemoryBodyClaim."""


class _AddMemoryBodyRequired(TypedDict):
    user_id: NewName
    content: Text


class _AddMemoryBodyOptional(TypedDict, total=False):
    created_at: Moment | None
    kind: Literal["fact", "preference", "commitment", "instruction", "entity", "event", "reflection", "context", "semantic", "episodic", "procedural"] | None
    type: Literal["fact", "preference", "commitment", "instruction", "entity", "event", "reflection", "context", "semantic", "episodic", "procedural"] | None
    claim: AddMemoryBodyClaim | None
    source_turn: int | None
    confidence: float | None
    importance: float | None
    valid_from: Moment | None
    expires_at: Moment | None
    metadata: Dict[str, Any] | None


class AddMemoryBody(_AddMemoryBodyRequired, _AddMemoryBodyOptional):
    """The fields of AddMemoryBody."""


class _UndoBodyRequired(TypedDict):
    revision: int


class _UndoBodyOptional(TypedDict, total=False):
    pass


class UndoBody(_UndoBodyRequired, _UndoBodyOptional):
    """The fields of UndoBody."""


class _ChangeMemoryBodyClaimRequired(TypedDict):
    subject: Text
    relation: Text
    value: Text


class _ChangeMemoryBodyClaimOptional(TypedDict, total=False):
    qualifier: Text | None


class ChangeMemoryBodyClaim(_ChangeMemoryBodyClaimRequired, _ChangeMemoryBodyClaimOptional):
    """The fields of ChangeMemoryBodyClaim."""


class _ChangeMemoryBodyRequired(TypedDict):
    pass


class _ChangeMemoryBodyOptional(TypedDict, total=False):
    content: Text | None
    text: Text | None
    valid_to: Moment | None
    clear: List[Literal["valid_from", "valid_to", "expires_at"]] | None
    quarantined: Literal[False] | None
    private: bool | None
    reviewed: Literal[True] | None
    kind: Literal["fact", "preference", "commitment", "instruction", "entity", "event", "reflection", "context", "semantic", "episodic", "procedural"] | None
    type: Literal["fact", "preference", "commitment", "instruction", "entity", "event", "reflection", "context", "semantic", "episodic", "procedural"] | None
    claim: ChangeMemoryBodyClaim | None
    source_turn: int | None
    confidence: float | None
    importance: float | None
    valid_from: Moment | None
    expires_at: Moment | None
    metadata: Dict[str, Any] | None


class ChangeMemoryBody(_ChangeMemoryBodyRequired, _ChangeMemoryBodyOptional):
    """The fields of ChangeMemoryBody."""


class _GetMemoryHistoryResponseRequired(TypedDict):
    items: List[Memory]


class _GetMemoryHistoryResponseOptional(TypedDict, total=False):
    cursor: str
    next_cursor: str


class GetMemoryHistoryResponse(_GetMemoryHistoryResponseRequired, _GetMemoryHistoryResponseOptional):
    """The fields of GetMemoryHistoryResponse."""


class _SearchMemoriesBodyWeightsRequired(TypedDict):
    pass


class _SearchMemoriesBodyWeightsOptional(TypedDict, total=False):
    similarity: float | None
    recency: float | None
    access: float | None
    confidence: float | None
    evidence: float | None
    importance: float | None


class SearchMemoriesBodyWeights(_SearchMemoriesBodyWeightsRequired, _SearchMemoriesBodyWeightsOptional):
    """The fields of SearchMemoriesBodyWeights."""


class _SearchMemoriesBodyRequired(TypedDict):
    pass


class _SearchMemoriesBodyOptional(TypedDict, total=False):
    query: Text | None
    top_k: int | None
    limit: int | None
    max_tokens: int | None
    kinds: List[Literal["fact", "preference", "commitment", "instruction", "entity", "event", "reflection", "context", "semantic", "episodic", "procedural"]] | None
    types: List[Literal["memory", "passage"]] | None
    as_of: Moment | None
    known_at: Moment | None
    session_id: Name | None
    where: Dict[str, Any] | None
    where_text: Dict[str, Any] | None
    min_score: float | None
    explain: bool | None
    record: bool | None
    profile: Text | None
    weights: SearchMemoriesBodyWeights | None
    shared: bool | None


class SearchMemoriesBody(_SearchMemoriesBodyRequired, _SearchMemoriesBodyOptional):
    """The fields of SearchMemoriesBody."""


class _BuildContextBodyRequired(TypedDict):
    user_id: Name
    request: Text


class _BuildContextBodyOptional(TypedDict, total=False):
    max_tokens: int | None
    as_of: Moment | None
    session_id: Name | None
    where: Dict[str, Any] | None
    where_text: Dict[str, Any] | None
    shared: bool | None


class BuildContextBody(_BuildContextBodyRequired, _BuildContextBodyOptional):
    """The fields of BuildContextBody."""


class _ListAttachmentsResponseRequired(TypedDict):
    user_id: str
    items: List[Attachment]
    total: int


class _ListAttachmentsResponseOptional(TypedDict, total=False):
    cursor: str
    next_cursor: str


class ListAttachmentsResponse(_ListAttachmentsResponseRequired, _ListAttachmentsResponseOptional):
    """The fields of ListAttachmentsResponse."""


class _ListChangesResponseRequired(TypedDict):
    user_id: str
    items: List[LogEntry]
    after: int
    more: bool


class _ListChangesResponseOptional(TypedDict, total=False):
    pass


class ListChangesResponse(_ListChangesResponseRequired, _ListChangesResponseOptional):
    """The fields of ListChangesResponse."""


class _StartSessionBodyRequired(TypedDict):
    pass


class _StartSessionBodyOptional(TypedDict, total=False):
    topic: Text | None
    context: Dict[str, Any] | None
    preferences: Dict[str, Any] | None
    session_id: NewName | None


class StartSessionBody(_StartSessionBodyRequired, _StartSessionBodyOptional):
    """The fields of StartSessionBody."""


class _StartSessionResponseRequired(TypedDict):
    id: str
    user_id: str
    started_at: str
    last_at: str
    expires_at: str


class _StartSessionResponseOptional(TypedDict, total=False):
    topic: str
    context: Dict[str, Any]
    preferences: Dict[str, Any]


class StartSessionResponse(_StartSessionResponseRequired, _StartSessionResponseOptional):
    """The fields of StartSessionResponse."""


class _GetSessionStateResponseRequired(TypedDict):
    id: str
    user_id: str
    started_at: str
    last_at: str
    expires_at: str


class _GetSessionStateResponseOptional(TypedDict, total=False):
    topic: str
    context: Dict[str, Any]
    preferences: Dict[str, Any]


class GetSessionStateResponse(_GetSessionStateResponseRequired, _GetSessionStateResponseOptional):
    """The fields of GetSessionStateResponse."""


class _UpdateSessionBodyRequired(TypedDict):
    pass


class _UpdateSessionBodyOptional(TypedDict, total=False):
    topic: Text | None
    context: Dict[str, Any] | None
    preferences: Dict[str, Any] | None


class UpdateSessionBody(_UpdateSessionBodyRequired, _UpdateSessionBodyOptional):
    """The fields of UpdateSessionBody."""


class _UpdateSessionResponseRequired(TypedDict):
    id: str
    user_id: str
    started_at: str
    last_at: str
    expires_at: str


class _UpdateSessionResponseOptional(TypedDict, total=False):
    topic: str
    context: Dict[str, Any]
    preferences: Dict[str, Any]


class UpdateSessionResponse(_UpdateSessionResponseRequired, _UpdateSessionResponseOptional):
    """The fields of UpdateSessionResponse."""


class _EndSessionResponseRequired(TypedDict):
    id: str
    user_id: str
    ended: Literal[True]


class _EndSessionResponseOptional(TypedDict, total=False):
    pass


class EndSessionResponse(_EndSessionResponseRequired, _EndSessionResponseOptional):
    """The fields of EndSessionResponse."""


class _EraseBodyRequired(TypedDict):
    user_id: Name


_EraseBodyOptional = TypedDict(
    "_EraseBodyOptional",
    {
        "about": "Text | None",
        "ids": "List[Name] | None",
        "session_id": "Name | None",
        "from": "Moment | None",
        "to": "Moment | None",
        "topic": "Text | None",
        "where": "Dict[str, Any] | None",
        "where_text": "Dict[str, Any] | None",
        "attachments": "List[Name] | None",
        "everything": "Literal[True] | None",
        "dry_run": "bool | None",
        "if_revision": "int | None",
    }, total=False,
)


class EraseBody(_EraseBodyRequired, _EraseBodyOptional):
    """The fields of EraseBody."""


class _ListErasuresResponseRequired(TypedDict):
    items: List[ErasureReceipt]
    total: int


class _ListErasuresResponseOptional(TypedDict, total=False):
    cursor: str
    next_cursor: str


class ListErasuresResponse(_ListErasuresResponseRequired, _ListErasuresResponseOptional):
    """The fields of ListErasuresResponse."""


class _ListJobsResponseRequired(TypedDict):
    items: List[Job]


class _ListJobsResponseOptional(TypedDict, total=False):
    pass


class ListJobsResponse(_ListJobsResponseRequired, _ListJobsResponseOptional):
    """The fields of ListJobsResponse."""


class _ListSettingsResponseRequired(TypedDict):
    items: List[Setting]
    total: int


class _ListSettingsResponseOptional(TypedDict, total=False):
    pass


class ListSettingsResponse(_ListSettingsResponseRequired, _ListSettingsResponseOptional):
    """The fields of ListSettingsResponse."""


class _ListKeysResponseRequired(TypedDict):
    items: List[Key]
    total: int


class _ListKeysResponseOptional(TypedDict, total=False):
    pass


class ListKeysResponse(_ListKeysResponseRequired, _ListKeysResponseOptional):
    """The fields of ListKeysResponse."""


class _CreateKeyBodyRequired(TypedDict):
    pass


class _CreateKeyBodyOptional(TypedDict, total=False):
    scopes: List[Literal["read", "write", "erase", "admin"]] | None
    user_id: NewName | None
    expires_at: Moment | None
    label: Name | None


class CreateKeyBody(_CreateKeyBodyRequired, _CreateKeyBodyOptional):
    """A key for the caller's project."""


class _RotateKeyBodyRequired(TypedDict):
    pass


class _RotateKeyBodyOptional(TypedDict, total=False):
    grace_seconds: int | None


class RotateKeyBody(_RotateKeyBodyRequired, _RotateKeyBodyOptional):
    """The fields of RotateKeyBody."""


class _ChooseProjectEmbedderBodyRequired(TypedDict):
    embedder: str


class _ChooseProjectEmbedderBodyOptional(TypedDict, total=False):
    pass


class ChooseProjectEmbedderBody(_ChooseProjectEmbedderBodyRequired, _ChooseProjectEmbedderBodyOptional):
    """The fields of ChooseProjectEmbedderBody."""


class _ChooseUserEmbedderBodyRequired(TypedDict):
    embedder: str


class _ChooseUserEmbedderBodyOptional(TypedDict, total=False):
    pass


class ChooseUserEmbedderBody(_ChooseUserEmbedderBodyRequired, _ChooseUserEmbedderBodyOptional):
    """The fields of ChooseUserEmbedderBody."""


class _ListWebhooksResponseRequired(TypedDict):
    items: List[Webhook]
    total: int


class _ListWebhooksResponseOptional(TypedDict, total=False):
    pass


class ListWebhooksResponse(_ListWebhooksResponseRequired, _ListWebhooksResponseOptional):
    """The fields of ListWebhooksResponse."""


class _CreateWebhookBodyRequired(TypedDict):
    url: str


class _CreateWebhookBodyOptional(TypedDict, total=False):
    events: List[Literal["content.erased", "memories.changed", "messages.added"]] | None
    enabled: bool | None
    label: Name | None


class CreateWebhookBody(_CreateWebhookBodyRequired, _CreateWebhookBodyOptional):
    """A webhook for the caller's project."""


class _UpdateWebhookBodyRequired(TypedDict):
    pass


class _UpdateWebhookBodyOptional(TypedDict, total=False):
    url: str | None
    events: List[Literal["content.erased", "memories.changed", "messages.added"]] | None
    enabled: bool | None
    label: Name | None


class UpdateWebhookBody(_UpdateWebhookBodyRequired, _UpdateWebhookBodyOptional):
    """What is to change. The rest stays."""


class _ListWebhookAttemptsResponseRequired(TypedDict):
    items: List[WebhookAttempt]


class _ListWebhookAttemptsResponseOptional(TypedDict, total=False):
    pass


class ListWebhookAttemptsResponse(_ListWebhookAttemptsResponseRequired, _ListWebhookAttemptsResponseOptional):
    """The fields of ListWebhookAttemptsResponse."""


class _RotateWebhookSecretBodyRequired(TypedDict):
    pass


class _RotateWebhookSecretBodyOptional(TypedDict, total=False):
    grace_seconds: int | None


class RotateWebhookSecretBody(_RotateWebhookSecretBodyRequired, _RotateWebhookSecretBodyOptional):
    """The fields of RotateWebhookSecretBody."""


AssociationType = Literal["related_to", "extends", "contradicts", "derived_from", "depends_on"]
JobName = Literal["understanding", "embedding", "expiry", "consolidation", "decay", "clean-up", "delayed-erasures", "tidying", "backup", "describing"] | str
Kind = Literal["fact", "preference", "commitment", "instruction", "entity", "event", "reflection", "context"]
Moment = str
Name = str
NewName = str
Origin = Literal["user_message", "assistant_message", "tool_result", "document", "import", "api"]
Role = Literal["user", "assistant", "system", "tool"]
Spoken = str
SpokenInBatch = str
Status = Literal["current", "superseded", "retracted"]
Text = str
Json = Any


class RawOperations(SyncTransport):
    """Every operation under `/api/v1`, as the API has it."""

    def get_health(
        self,
    ) -> GetHealthResponse:
        """Checks whether the process is alive."""
        sent = self._send(
            "GET",
            "/api/v1/health",
            path={},
            query={},
        )
        return cast("GetHealthResponse", sent)

    def get_readiness(
        self,
    ) -> GetReadinessResponse:
        """Checks whether the database can be read and, after a failed write, written."""
        sent = self._send(
            "GET",
            "/api/v1/ready",
            path={},
            query={},
        )
        return cast("GetReadinessResponse", sent)

    def converse(
        self,
        body: ConverseBody,
        *,
        idempotency_key: str | None = None,
    ) -> ConversationReply:
        """Runs one turn: stores the message, acts on it, and replies."""
        sent = self._send(
            "POST",
            "/api/v1/conversation",
            path={},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("ConversationReply", sent)

    def add_messages(
        self,
        body: AddMessagesBody,
        *,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Stores messages, all or none."""
        sent = self._send(
            "POST",
            "/api/v1/messages",
            path={},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Receipt", sent)

    def link_memories(
        self,
        user_id: str,
        body: LinkMemoriesBody,
        *,
        idempotency_key: str | None = None,
    ) -> AssociationReceipt:
        """Associates a memory with another, or changes the strength."""
        sent = self._send(
            "POST",
            "/api/v1/memories/{user_id}/links",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("AssociationReceipt", sent)

    def unlink_memories(
        self,
        user_id: str,
        *,
        from_: str | int | float | bool | None = None,
        to: str | int | float | bool | None = None,
        type: str | int | float | bool | None = None,
        idempotency_key: str | None = None,
    ) -> AssociationReceipt:
        """Removes the associations from a memory to another, which `undo` reverts."""
        sent = self._send(
            "DELETE",
            "/api/v1/memories/{user_id}/links",
            path={"user_id": user_id},
            query={"from": from_, "to": to, "type": type},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("AssociationReceipt", sent)

    def list_links(
        self,
        user_id: str,
        *,
        memory: str | int | float | bool | None = None,
        type: str | int | float | bool | None = None,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> AssociationPage:
        """Lists stored associations: all, or those of one memory."""
        sent = self._send(
            "GET",
            "/api/v1/memories/{user_id}/links",
            path={"user_id": user_id},
            query={"memory": memory, "type": type, "cursor": cursor, "limit": limit},
        )
        return cast("AssociationPage", sent)

    def get_related_memories(
        self,
        user_id: str,
        id: str,
        *,
        depth: str | int | float | bool | None = None,
        min_strength: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
        type: str | int | float | bool | None = None,
        status: str | int | float | bool | None = None,
        inferred: str | int | float | bool | None = None,
    ) -> RelatedMemories:
        """Finds memories associated with one, also through others, strongest first."""
        sent = self._send(
            "GET",
            "/api/v1/memories/{user_id}/{id}/related",
            path={"user_id": user_id, "id": id},
            query={"depth": depth, "min_strength": min_strength, "limit": limit, "type": type, "status": status, "inferred": inferred},
        )
        return cast("RelatedMemories", sent)

    def list_clusters(
        self,
        user_id: str,
        *,
        limit: str | int | float | bool | None = None,
        memories: str | int | float | bool | None = None,
        kind: str | int | float | bool | None = None,
    ) -> MemoryClusters:
        """Groups current memories by topic, and names each group."""
        sent = self._send(
            "GET",
            "/api/v1/memories/{user_id}/clusters",
            path={"user_id": user_id},
            query={"limit": limit, "memories": memories, "kind": kind},
        )
        return cast("MemoryClusters", sent)

    def list_reflections(
        self,
        user_id: str,
        *,
        from_: str | int | float | bool | None = None,
        to: str | int | float | bool | None = None,
        topic: str | int | float | bool | None = None,
        min_memories: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
        by: str | int | float | bool | None = None,
    ) -> Reflections:
        """Sums up what the user said, by month and topic."""
        sent = self._send(
            "GET",
            "/api/v1/memories/{user_id}/reflections",
            path={"user_id": user_id},
            query={"from": from_, "to": to, "topic": topic, "min_memories": min_memories, "limit": limit, "by": by},
        )
        return cast("Reflections", sent)

    def share(
        self,
        user_id: str,
        body: ShareBody,
        *,
        idempotency_key: str | None = None,
    ) -> Grant:
        """Lets another user or a group read some of the user's memories."""
        sent = self._send(
            "POST",
            "/api/v1/grants/{user_id}",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Grant", sent)

    def list_grants(
        self,
        user_id: str,
        *,
        all: str | int | float | bool | None = None,
    ) -> Grants:
        """Lists the grants that a user gave and received, newest first."""
        sent = self._send(
            "GET",
            "/api/v1/grants/{user_id}",
            path={"user_id": user_id},
            query={"all": all},
        )
        return cast("Grants", sent)

    def answer_grant(
        self,
        user_id: str,
        id: str,
        body: AnswerGrantBody,
        *,
        idempotency_key: str | None = None,
    ) -> Grant:
        """Declines a grant that the user received, or accepts it again."""
        sent = self._send(
            "PATCH",
            "/api/v1/grants/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Grant", sent)

    def withdraw_grant(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> Grant:
        """Ends a grant that the user gave, at once."""
        sent = self._send(
            "DELETE",
            "/api/v1/grants/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Grant", sent)

    def list_shared(
        self,
        user_id: str,
        *,
        grant: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> SharedMemories:
        """Lists the memories that others let the user read, newest first."""
        sent = self._send(
            "GET",
            "/api/v1/shared/{user_id}",
            path={"user_id": user_id},
            query={"grant": grant, "limit": limit},
        )
        return cast("SharedMemories", sent)

    def save_group(
        self,
        user_id: str,
        body: SaveGroupBody,
        *,
        idempotency_key: str | None = None,
    ) -> Group:
        """Makes a group, or replaces the members of the user's group of that name."""
        sent = self._send(
            "POST",
            "/api/v1/groups/{user_id}",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Group", sent)

    def list_groups(
        self,
        user_id: str,
    ) -> ListGroupsResponse:
        """Lists the groups that the user made or is in."""
        sent = self._send(
            "GET",
            "/api/v1/groups/{user_id}",
            path={"user_id": user_id},
            query={},
        )
        return cast("ListGroupsResponse", sent)

    def delete_group(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Deletes a group of the user, with all grants to it; a member leaves it instead."""
        sent = self._send(
            "DELETE",
            "/api/v1/groups/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("None", sent)

    def add_memory(
        self,
        body: AddMemoryBody,
        *,
        idempotency_key: str | None = None,
    ) -> WrittenMemory:
        """Adds a memory directly."""
        sent = self._send(
            "POST",
            "/api/v1/memories",
            path={},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("WrittenMemory", sent)

    def list_memories(
        self,
        user_id: str,
        *,
        kind: str | int | float | bool | None = None,
        type: str | int | float | bool | None = None,
        status: str | int | float | bool | None = None,
        quarantined: str | int | float | bool | None = None,
        review: str | int | float | bool | None = None,
        origin: str | int | float | bool | None = None,
        from_: str | int | float | bool | None = None,
        to: str | int | float | bool | None = None,
        session_id: str | int | float | bool | None = None,
        topic: str | int | float | bool | None = None,
        subject: str | int | float | bool | None = None,
        sensitive: str | int | float | bool | None = None,
        as_of: str | int | float | bool | None = None,
        known_at: str | int | float | bool | None = None,
        where_text: str | int | float | bool | None = None,
        sort: str | int | float | bool | None = None,
        offset: str | int | float | bool | None = None,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> MemoryPage:
        """Lists a user's memories."""
        sent = self._send(
            "GET",
            "/api/v1/memories/{user_id}",
            path={"user_id": user_id},
            query={"kind": kind, "type": type, "status": status, "quarantined": quarantined, "review": review, "origin": origin, "from": from_, "to": to, "session_id": session_id, "topic": topic, "subject": subject, "sensitive": sensitive, "as_of": as_of, "known_at": known_at, "where_text": where_text, "sort": sort, "offset": offset, "cursor": cursor, "limit": limit},
        )
        return cast("MemoryPage", sent)

    def list_facets(
        self,
        user_id: str,
        *,
        kind: str | int | float | bool | None = None,
        type: str | int | float | bool | None = None,
        status: str | int | float | bool | None = None,
        quarantined: str | int | float | bool | None = None,
        review: str | int | float | bool | None = None,
        origin: str | int | float | bool | None = None,
        from_: str | int | float | bool | None = None,
        to: str | int | float | bool | None = None,
        session_id: str | int | float | bool | None = None,
        topic: str | int | float | bool | None = None,
        subject: str | int | float | bool | None = None,
        sensitive: str | int | float | bool | None = None,
        as_of: str | int | float | bool | None = None,
        known_at: str | int | float | bool | None = None,
        where_text: str | int | float | bool | None = None,
        by: str | int | float | bool | None = None,
        zone: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> MemoryFacets:
        """Counts memories by topic, person or thing, kind, or month."""
        sent = self._send(
            "GET",
            "/api/v1/memories/{user_id}/facets",
            path={"user_id": user_id},
            query={"kind": kind, "type": type, "status": status, "quarantined": quarantined, "review": review, "origin": origin, "from": from_, "to": to, "session_id": session_id, "topic": topic, "subject": subject, "sensitive": sensitive, "as_of": as_of, "known_at": known_at, "where_text": where_text, "by": by, "zone": zone, "limit": limit},
        )
        return cast("MemoryFacets", sent)

    def erase_user(
        self,
        user_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> ErasureReceipt:
        """Erases everything about a user."""
        sent = self._send(
            "DELETE",
            "/api/v1/memories/{user_id}/all",
            path={"user_id": user_id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("ErasureReceipt", sent)

    def undo(
        self,
        user_id: str,
        body: UndoBody,
        *,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Undoes a revision."""
        sent = self._send(
            "POST",
            "/api/v1/memories/{user_id}/undo",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Receipt", sent)

    def get_memory(
        self,
        user_id: str,
        id: str,
    ) -> Memory:
        """Gives one memory."""
        sent = self._send(
            "GET",
            "/api/v1/memories/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
        )
        return cast("Memory", sent)

    def change_memory(
        self,
        user_id: str,
        id: str,
        body: ChangeMemoryBody,
        *,
        idempotency_key: str | None = None,
    ) -> WrittenMemory:
        """Changes fields of a memory; the history keeps the old version."""
        sent = self._send(
            "PATCH",
            "/api/v1/memories/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("WrittenMemory", sent)

    def remove_memory(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Retracts a memory, which `undo` reverts."""
        sent = self._send(
            "DELETE",
            "/api/v1/memories/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Receipt", sent)

    def get_memory_history(
        self,
        user_id: str,
        id: str,
        *,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> GetMemoryHistoryResponse:
        """Lists the versions of a memory, oldest first."""
        sent = self._send(
            "GET",
            "/api/v1/memories/{user_id}/{id}/history",
            path={"user_id": user_id, "id": id},
            query={"cursor": cursor, "limit": limit},
        )
        return cast("GetMemoryHistoryResponse", sent)

    def get_stats(
        self,
        user_id: str,
        *,
        since: str | int | float | bool | None = None,
        until: str | int | float | bool | None = None,
        by: str | int | float | bool | None = None,
    ) -> Stats:
        """Counts a user's memories by kind and status, with the cost of their model calls."""
        sent = self._send(
            "GET",
            "/api/v1/memories/{user_id}/stats",
            path={"user_id": user_id},
            query={"since": since, "until": until, "by": by},
        )
        return cast("Stats", sent)

    def get_project_stats(
        self,
        *,
        since: str | int | float | bool | None = None,
        until: str | int | float | bool | None = None,
        by: str | int | float | bool | None = None,
    ) -> ProjectStats:
        """Gives the cost of the project's model calls, and its remaining budgets."""
        sent = self._send(
            "GET",
            "/api/v1/stats",
            path={},
            query={"since": since, "until": until, "by": by},
        )
        return cast("ProjectStats", sent)

    def search_memories(
        self,
        user_id: str,
        body: SearchMemoriesBody | None = None,
        *,
        query: str | int | float | bool | None = None,
        top_k: str | int | float | bool | None = None,
    ) -> Recall:
        """Finds memories relevant to a query."""
        sent = self._send(
            "POST",
            "/api/v1/memories/{user_id}/search",
            path={"user_id": user_id},
            query={"query": query, "top_k": top_k},
            json=body,
            reads=True,
        )
        return cast("Recall", sent)

    def build_context(
        self,
        body: BuildContextBody,
    ) -> Context:
        """Gives what a model is told before it answers a request."""
        sent = self._send(
            "POST",
            "/api/v1/context",
            path={},
            query={},
            json=body,
            reads=True,
        )
        return cast("Context", sent)

    def explain_recall(
        self,
        user_id: str,
        id: str,
        *,
        about: str | int | float | bool | None = None,
    ) -> RecallExplanation:
        """Explains which items an earlier recall returned or dropped, and why."""
        sent = self._send(
            "GET",
            "/api/v1/memories/{user_id}/recalls/{id}",
            path={"user_id": user_id, "id": id},
            query={"about": about},
        )
        return cast("RecallExplanation", sent)

    def list_prompts(
        self,
        user_id: str,
        *,
        session_id: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> GivenPrompts:
        """Gives what models were recently given from memory, word for word."""
        sent = self._send(
            "GET",
            "/api/v1/prompts/{user_id}",
            path={"user_id": user_id},
            query={"session_id": session_id, "limit": limit},
        )
        return cast("GivenPrompts", sent)

    def add_attachment(
        self,
        user_id: str,
        body: bytes,
        *,
        description: str | int | float | bool | None = None,
        text: str | int | float | bool | None = None,
        message_id: str | int | float | bool | None = None,
        session_id: str | int | float | bool | None = None,
        at: str | int | float | bool | None = None,
        idempotency_key: str | None = None,
        content_type: str = "image/png",
    ) -> Receipt:
        """Stores an image or a recording, as a message of the user."""
        sent = self._send(
            "POST",
            "/api/v1/attachments/{user_id}",
            path={"user_id": user_id},
            query={"description": description, "text": text, "message_id": message_id, "session_id": session_id, "at": at},
            content=body,
            content_type=content_type,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Receipt", sent)

    def list_attachments(
        self,
        user_id: str,
        *,
        type: str | int | float | bool | None = None,
        session_id: str | int | float | bool | None = None,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> ListAttachmentsResponse:
        """Lists the images and recordings of a user's messages, newest first."""
        sent = self._send(
            "GET",
            "/api/v1/attachments/{user_id}",
            path={"user_id": user_id},
            query={"type": type, "session_id": session_id, "cursor": cursor, "limit": limit},
        )
        return cast("ListAttachmentsResponse", sent)

    def get_attachment(
        self,
        user_id: str,
        id: str,
    ) -> Attachment:
        """Describes one image or recording."""
        sent = self._send(
            "GET",
            "/api/v1/attachments/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
        )
        return cast("Attachment", sent)

    def erase_attachment(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> ErasureReceipt:
        """Erases an image or a recording, the words that describe it, and memories that come only from these."""
        sent = self._send(
            "DELETE",
            "/api/v1/attachments/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("ErasureReceipt", sent)

    def get_attachment_content(
        self,
        user_id: str,
        id: str,
    ) -> Any:
        """Gives the bytes of an image or a recording."""
        sent = self._send(
            "GET",
            "/api/v1/attachments/{user_id}/{id}/content",
            path={"user_id": user_id, "id": id},
            query={},
        )
        return cast("Any", sent)

    def get_history(
        self,
        user_id: str,
        *,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> Log:
        """Lists the revisions of a user's memory, newest first."""
        sent = self._send(
            "GET",
            "/api/v1/history/{user_id}",
            path={"user_id": user_id},
            query={"cursor": cursor, "limit": limit},
        )
        return cast("Log", sent)

    def get_profile(
        self,
        user_id: str,
        *,
        max_tokens: str | int | float | bool | None = None,
    ) -> Profile:
        """Gives a short profile of what is currently known about a user."""
        sent = self._send(
            "GET",
            "/api/v1/profile/{user_id}",
            path={"user_id": user_id},
            query={"max_tokens": max_tokens},
        )
        return cast("Profile", sent)

    def list_changes(
        self,
        *,
        user_id: str | int | float | bool | None = None,
        after: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> ListChangesResponse:
        """Gives the changes of a user's memory after a revision, oldest first, or streams them."""
        sent = self._send(
            "GET",
            "/api/v1/changes",
            path={},
            query={"user_id": user_id, "after": after, "limit": limit},
        )
        return cast("ListChangesResponse", sent)

    def list_sessions(
        self,
        user_id: str,
        *,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> SessionPage:
        """Lists a user's sessions, most recent first."""
        sent = self._send(
            "GET",
            "/api/v1/sessions/{user_id}",
            path={"user_id": user_id},
            query={"cursor": cursor, "limit": limit},
        )
        return cast("SessionPage", sent)

    def start_session(
        self,
        user_id: str,
        body: StartSessionBody,
        *,
        idempotency_key: str | None = None,
    ) -> StartSessionResponse:
        """Starts a session: gives it a state for a day."""
        sent = self._send(
            "POST",
            "/api/v1/sessions/{user_id}",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("StartSessionResponse", sent)

    def get_session(
        self,
        user_id: str,
        id: str,
        *,
        sort: str | int | float | bool | None = None,
        start_at: str | int | float | bool | None = None,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> Session:
        """Lists the messages of a session."""
        sent = self._send(
            "GET",
            "/api/v1/sessions/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={"sort": sort, "start_at": start_at, "cursor": cursor, "limit": limit},
        )
        return cast("Session", sent)

    def erase_session(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> ErasureReceipt:
        """Erases the messages of a session, and memories that come only from it."""
        sent = self._send(
            "DELETE",
            "/api/v1/sessions/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("ErasureReceipt", sent)

    def get_message(
        self,
        user_id: str,
        id: str,
    ) -> StoredMessage:
        """Gives one message, with its session."""
        sent = self._send(
            "GET",
            "/api/v1/messages/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
        )
        return cast("StoredMessage", sent)

    def get_session_state(
        self,
        user_id: str,
        id: str,
    ) -> GetSessionStateResponse:
        """Gives the state of a session."""
        sent = self._send(
            "GET",
            "/api/v1/sessions/{user_id}/{id}/state",
            path={"user_id": user_id, "id": id},
            query={},
        )
        return cast("GetSessionStateResponse", sent)

    def update_session(
        self,
        user_id: str,
        id: str,
        body: UpdateSessionBody,
        *,
        idempotency_key: str | None = None,
    ) -> UpdateSessionResponse:
        """Changes the state of a session."""
        sent = self._send(
            "PATCH",
            "/api/v1/sessions/{user_id}/{id}/state",
            path={"user_id": user_id, "id": id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("UpdateSessionResponse", sent)

    def end_session(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> EndSessionResponse:
        """Ends a session: deletes its state."""
        sent = self._send(
            "DELETE",
            "/api/v1/sessions/{user_id}/{id}/state",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("EndSessionResponse", sent)

    def erase(
        self,
        body: EraseBody,
        *,
        idempotency_key: str | None = None,
    ) -> ErasurePlan | ErasureReceipt:
        """Erases matching data from every store, with a receipt."""
        sent = self._send(
            "POST",
            "/api/v1/erasures",
            path={},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("ErasurePlan | ErasureReceipt", sent)

    def list_erasures(
        self,
        *,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
        user_id: str | int | float | bool | None = None,
    ) -> ListErasuresResponse:
        """Lists the erasure receipts of one user, or of the project, oldest first."""
        sent = self._send(
            "GET",
            "/api/v1/erasures",
            path={},
            query={"cursor": cursor, "limit": limit, "user_id": user_id},
        )
        return cast("ListErasuresResponse", sent)

    def get_erasure(
        self,
        id: str,
        *,
        user_id: str | int | float | bool | None = None,
    ) -> ErasureReceipt:
        """Gives the receipt of an erasure."""
        sent = self._send(
            "GET",
            "/api/v1/erasures/{id}",
            path={"id": id},
            query={"user_id": user_id},
        )
        return cast("ErasureReceipt", sent)

    def export_user(
        self,
        user_id: str,
        *,
        format: str | int | float | bool | None = None,
    ) -> Dict[str, Any]:
        """Exports everything about a user."""
        sent = self._send(
            "GET",
            "/api/v1/export/{user_id}",
            path={"user_id": user_id},
            query={"format": format},
        )
        return cast("Dict[str, Any]", sent)

    def import_user(
        self,
        user_id: str,
        body: bytes,
        *,
        extract: str | int | float | bool | None = None,
        format: str | int | float | bool | None = None,
        dry_run: str | int | float | bool | None = None,
        import_id: str | int | float | bool | None = None,
        content_type: str = "application/x-ndjson",
    ) -> Imported:
        """Imports a file: an export of Keepsake or of another program."""
        sent = self._send(
            "POST",
            "/api/v1/import/{user_id}",
            path={"user_id": user_id},
            query={"extract": extract, "format": format, "dry_run": dry_run, "import_id": import_id},
            content=body,
            content_type=content_type,
        )
        return cast("Imported", sent)

    def list_users(
        self,
        *,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> UserPage:
        """Lists the users of the project, by name."""
        sent = self._send(
            "GET",
            "/api/v1/users",
            path={},
            query={"cursor": cursor, "limit": limit},
        )
        return cast("UserPage", sent)

    def list_jobs(
        self,
    ) -> ListJobsResponse:
        """Lists the background jobs and their state."""
        sent = self._send(
            "GET",
            "/api/v1/jobs",
            path={},
            query={},
        )
        return cast("ListJobsResponse", sent)

    def optimize(
        self,
        user_id: str,
        *,
        current_turn: str | int | float | bool | None = None,
        dry_run: str | int | float | bool | None = None,
        max_age_days: str | int | float | bool | None = None,
        min_importance: str | int | float | bool | None = None,
        kinds: str | int | float | bool | None = None,
        idempotency_key: str | None = None,
    ) -> Optimized:
        """Maintains a user's memories: expiry, consolidation, decay, clean-up."""
        sent = self._send(
            "POST",
            "/api/v1/memories/{user_id}/optimize",
            path={"user_id": user_id},
            query={"current_turn": current_turn, "dry_run": dry_run, "max_age_days": max_age_days, "min_importance": min_importance, "kinds": kinds},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Optimized", sent)

    def list_settings(
        self,
    ) -> ListSettingsResponse:
        """Lists the server's settings: what is in force, and where it comes from."""
        sent = self._send(
            "GET",
            "/api/v1/settings",
            path={},
            query={},
        )
        return cast("ListSettingsResponse", sent)

    def list_keys(
        self,
    ) -> ListKeysResponse:
        """Lists the keys of the project, oldest first."""
        sent = self._send(
            "GET",
            "/api/v1/keys",
            path={},
            query={},
        )
        return cast("ListKeysResponse", sent)

    def create_key(
        self,
        body: CreateKeyBody,
    ) -> IssuedKey:
        """Creates a key for the project."""
        sent = self._send(
            "POST",
            "/api/v1/keys",
            path={},
            query={},
            json=body,
        )
        return cast("IssuedKey", sent)

    def rotate_key(
        self,
        id: str,
        body: RotateKeyBody | None = None,
    ) -> IssuedKey:
        """Replaces the secret of a key."""
        sent = self._send(
            "POST",
            "/api/v1/keys/{id}/rotate",
            path={"id": id},
            query={},
            json=body,
        )
        return cast("IssuedKey", sent)

    def revoke_key(
        self,
        id: str,
    ) -> None:
        """Revokes a key and its sessions."""
        sent = self._send(
            "DELETE",
            "/api/v1/keys/{id}",
            path={"id": id},
            query={},
        )
        return cast("None", sent)

    def get_project_embedder(
        self,
    ) -> ProjectEmbedder:
        """Gives the embedder of the project, the users with another one, and how far embedding is."""
        sent = self._send(
            "GET",
            "/api/v1/embedders",
            path={},
            query={},
        )
        return cast("ProjectEmbedder", sent)

    def choose_project_embedder(
        self,
        body: ChooseProjectEmbedderBody,
    ) -> ProjectEmbedder:
        """Chooses an embedder for the users of the project who have no choice of their own."""
        sent = self._send(
            "PUT",
            "/api/v1/embedders",
            path={},
            query={},
            json=body,
        )
        return cast("ProjectEmbedder", sent)

    def clear_project_embedder(
        self,
    ) -> ProjectEmbedder:
        """Removes the project's choice, so that the server's default applies again."""
        sent = self._send(
            "DELETE",
            "/api/v1/embedders",
            path={},
            query={},
        )
        return cast("ProjectEmbedder", sent)

    def get_user_embedder(
        self,
        user_id: str,
    ) -> UserEmbedder:
        """Gives the embedder of a user, and how far embedding is."""
        sent = self._send(
            "GET",
            "/api/v1/embedders/{user_id}",
            path={"user_id": user_id},
            query={},
        )
        return cast("UserEmbedder", sent)

    def choose_user_embedder(
        self,
        user_id: str,
        body: ChooseUserEmbedderBody,
        *,
        idempotency_key: str | None = None,
    ) -> UserEmbedder:
        """Chooses an embedder for a user, before that of the project."""
        sent = self._send(
            "PUT",
            "/api/v1/embedders/{user_id}",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("UserEmbedder", sent)

    def clear_user_embedder(
        self,
        user_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> UserEmbedder:
        """Removes a user's choice, so that the project's applies again."""
        sent = self._send(
            "DELETE",
            "/api/v1/embedders/{user_id}",
            path={"user_id": user_id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("UserEmbedder", sent)

    def list_webhooks(
        self,
    ) -> ListWebhooksResponse:
        """Lists the webhooks of the project, oldest first."""
        sent = self._send(
            "GET",
            "/api/v1/webhooks",
            path={},
            query={},
        )
        return cast("ListWebhooksResponse", sent)

    def create_webhook(
        self,
        body: CreateWebhookBody,
    ) -> IssuedWebhook:
        """Registers a webhook."""
        sent = self._send(
            "POST",
            "/api/v1/webhooks",
            path={},
            query={},
            json=body,
        )
        return cast("IssuedWebhook", sent)

    def get_webhook(
        self,
        id: str,
    ) -> Webhook:
        """Gives a webhook, and how its deliveries go."""
        sent = self._send(
            "GET",
            "/api/v1/webhooks/{id}",
            path={"id": id},
            query={},
        )
        return cast("Webhook", sent)

    def update_webhook(
        self,
        id: str,
        body: UpdateWebhookBody,
    ) -> Webhook:
        """Changes a webhook."""
        sent = self._send(
            "PATCH",
            "/api/v1/webhooks/{id}",
            path={"id": id},
            query={},
            json=body,
        )
        return cast("Webhook", sent)

    def delete_webhook(
        self,
        id: str,
    ) -> None:
        """Removes a webhook."""
        sent = self._send(
            "DELETE",
            "/api/v1/webhooks/{id}",
            path={"id": id},
            query={},
        )
        return cast("None", sent)

    def list_webhook_attempts(
        self,
        id: str,
    ) -> ListWebhookAttemptsResponse:
        """Gives the last 25 attempts of a webhook, the newest first."""
        sent = self._send(
            "GET",
            "/api/v1/webhooks/{id}/attempts",
            path={"id": id},
            query={},
        )
        return cast("ListWebhookAttemptsResponse", sent)

    def test_webhook(
        self,
        id: str,
    ) -> WebhookAttempt:
        """Sends an event `webhook.test` now."""
        sent = self._send(
            "POST",
            "/api/v1/webhooks/{id}/test",
            path={"id": id},
            query={},
        )
        return cast("WebhookAttempt", sent)

    def rotate_webhook_secret(
        self,
        id: str,
        body: RotateWebhookSecretBody | None = None,
    ) -> IssuedWebhook:
        """Replaces the secret of a webhook."""
        sent = self._send(
            "POST",
            "/api/v1/webhooks/{id}/rotate",
            path={"id": id},
            query={},
            json=body,
        )
        return cast("IssuedWebhook", sent)


class AsyncRawOperations(AsyncTransport):
    """The same, asynchronous."""

    async def get_health(
        self,
    ) -> GetHealthResponse:
        """Checks whether the process is alive."""
        sent = await self._send(
            "GET",
            "/api/v1/health",
            path={},
            query={},
        )
        return cast("GetHealthResponse", sent)

    async def get_readiness(
        self,
    ) -> GetReadinessResponse:
        """Checks whether the database can be read and, after a failed write, written."""
        sent = await self._send(
            "GET",
            "/api/v1/ready",
            path={},
            query={},
        )
        return cast("GetReadinessResponse", sent)

    async def converse(
        self,
        body: ConverseBody,
        *,
        idempotency_key: str | None = None,
    ) -> ConversationReply:
        """Runs one turn: stores the message, acts on it, and replies."""
        sent = await self._send(
            "POST",
            "/api/v1/conversation",
            path={},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("ConversationReply", sent)

    async def add_messages(
        self,
        body: AddMessagesBody,
        *,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Stores messages, all or none."""
        sent = await self._send(
            "POST",
            "/api/v1/messages",
            path={},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Receipt", sent)

    async def link_memories(
        self,
        user_id: str,
        body: LinkMemoriesBody,
        *,
        idempotency_key: str | None = None,
    ) -> AssociationReceipt:
        """Associates a memory with another, or changes the strength."""
        sent = await self._send(
            "POST",
            "/api/v1/memories/{user_id}/links",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("AssociationReceipt", sent)

    async def unlink_memories(
        self,
        user_id: str,
        *,
        from_: str | int | float | bool | None = None,
        to: str | int | float | bool | None = None,
        type: str | int | float | bool | None = None,
        idempotency_key: str | None = None,
    ) -> AssociationReceipt:
        """Removes the associations from a memory to another, which `undo` reverts."""
        sent = await self._send(
            "DELETE",
            "/api/v1/memories/{user_id}/links",
            path={"user_id": user_id},
            query={"from": from_, "to": to, "type": type},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("AssociationReceipt", sent)

    async def list_links(
        self,
        user_id: str,
        *,
        memory: str | int | float | bool | None = None,
        type: str | int | float | bool | None = None,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> AssociationPage:
        """Lists stored associations: all, or those of one memory."""
        sent = await self._send(
            "GET",
            "/api/v1/memories/{user_id}/links",
            path={"user_id": user_id},
            query={"memory": memory, "type": type, "cursor": cursor, "limit": limit},
        )
        return cast("AssociationPage", sent)

    async def get_related_memories(
        self,
        user_id: str,
        id: str,
        *,
        depth: str | int | float | bool | None = None,
        min_strength: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
        type: str | int | float | bool | None = None,
        status: str | int | float | bool | None = None,
        inferred: str | int | float | bool | None = None,
    ) -> RelatedMemories:
        """Finds memories associated with one, also through others, strongest first."""
        sent = await self._send(
            "GET",
            "/api/v1/memories/{user_id}/{id}/related",
            path={"user_id": user_id, "id": id},
            query={"depth": depth, "min_strength": min_strength, "limit": limit, "type": type, "status": status, "inferred": inferred},
        )
        return cast("RelatedMemories", sent)

    async def list_clusters(
        self,
        user_id: str,
        *,
        limit: str | int | float | bool | None = None,
        memories: str | int | float | bool | None = None,
        kind: str | int | float | bool | None = None,
    ) -> MemoryClusters:
        """Groups current memories by topic, and names each group."""
        sent = await self._send(
            "GET",
            "/api/v1/memories/{user_id}/clusters",
            path={"user_id": user_id},
            query={"limit": limit, "memories": memories, "kind": kind},
        )
        return cast("MemoryClusters", sent)

    async def list_reflections(
        self,
        user_id: str,
        *,
        from_: str | int | float | bool | None = None,
        to: str | int | float | bool | None = None,
        topic: str | int | float | bool | None = None,
        min_memories: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
        by: str | int | float | bool | None = None,
    ) -> Reflections:
        """Sums up what the user said, by month and topic."""
        sent = await self._send(
            "GET",
            "/api/v1/memories/{user_id}/reflections",
            path={"user_id": user_id},
            query={"from": from_, "to": to, "topic": topic, "min_memories": min_memories, "limit": limit, "by": by},
        )
        return cast("Reflections", sent)

    async def share(
        self,
        user_id: str,
        body: ShareBody,
        *,
        idempotency_key: str | None = None,
    ) -> Grant:
        """Lets another user or a group read some of the user's memories."""
        sent = await self._send(
            "POST",
            "/api/v1/grants/{user_id}",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Grant", sent)

    async def list_grants(
        self,
        user_id: str,
        *,
        all: str | int | float | bool | None = None,
    ) -> Grants:
        """Lists the grants that a user gave and received, newest first."""
        sent = await self._send(
            "GET",
            "/api/v1/grants/{user_id}",
            path={"user_id": user_id},
            query={"all": all},
        )
        return cast("Grants", sent)

    async def answer_grant(
        self,
        user_id: str,
        id: str,
        body: AnswerGrantBody,
        *,
        idempotency_key: str | None = None,
    ) -> Grant:
        """Declines a grant that the user received, or accepts it again."""
        sent = await self._send(
            "PATCH",
            "/api/v1/grants/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Grant", sent)

    async def withdraw_grant(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> Grant:
        """Ends a grant that the user gave, at once."""
        sent = await self._send(
            "DELETE",
            "/api/v1/grants/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Grant", sent)

    async def list_shared(
        self,
        user_id: str,
        *,
        grant: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> SharedMemories:
        """Lists the memories that others let the user read, newest first."""
        sent = await self._send(
            "GET",
            "/api/v1/shared/{user_id}",
            path={"user_id": user_id},
            query={"grant": grant, "limit": limit},
        )
        return cast("SharedMemories", sent)

    async def save_group(
        self,
        user_id: str,
        body: SaveGroupBody,
        *,
        idempotency_key: str | None = None,
    ) -> Group:
        """Makes a group, or replaces the members of the user's group of that name."""
        sent = await self._send(
            "POST",
            "/api/v1/groups/{user_id}",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Group", sent)

    async def list_groups(
        self,
        user_id: str,
    ) -> ListGroupsResponse:
        """Lists the groups that the user made or is in."""
        sent = await self._send(
            "GET",
            "/api/v1/groups/{user_id}",
            path={"user_id": user_id},
            query={},
        )
        return cast("ListGroupsResponse", sent)

    async def delete_group(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Deletes a group of the user, with all grants to it; a member leaves it instead."""
        sent = await self._send(
            "DELETE",
            "/api/v1/groups/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("None", sent)

    async def add_memory(
        self,
        body: AddMemoryBody,
        *,
        idempotency_key: str | None = None,
    ) -> WrittenMemory:
        """Adds a memory directly."""
        sent = await self._send(
            "POST",
            "/api/v1/memories",
            path={},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("WrittenMemory", sent)

    async def list_memories(
        self,
        user_id: str,
        *,
        kind: str | int | float | bool | None = None,
        type: str | int | float | bool | None = None,
        status: str | int | float | bool | None = None,
        quarantined: str | int | float | bool | None = None,
        review: str | int | float | bool | None = None,
        origin: str | int | float | bool | None = None,
        from_: str | int | float | bool | None = None,
        to: str | int | float | bool | None = None,
        session_id: str | int | float | bool | None = None,
        topic: str | int | float | bool | None = None,
        subject: str | int | float | bool | None = None,
        sensitive: str | int | float | bool | None = None,
        as_of: str | int | float | bool | None = None,
        known_at: str | int | float | bool | None = None,
        where_text: str | int | float | bool | None = None,
        sort: str | int | float | bool | None = None,
        offset: str | int | float | bool | None = None,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> MemoryPage:
        """Lists a user's memories."""
        sent = await self._send(
            "GET",
            "/api/v1/memories/{user_id}",
            path={"user_id": user_id},
            query={"kind": kind, "type": type, "status": status, "quarantined": quarantined, "review": review, "origin": origin, "from": from_, "to": to, "session_id": session_id, "topic": topic, "subject": subject, "sensitive": sensitive, "as_of": as_of, "known_at": known_at, "where_text": where_text, "sort": sort, "offset": offset, "cursor": cursor, "limit": limit},
        )
        return cast("MemoryPage", sent)

    async def list_facets(
        self,
        user_id: str,
        *,
        kind: str | int | float | bool | None = None,
        type: str | int | float | bool | None = None,
        status: str | int | float | bool | None = None,
        quarantined: str | int | float | bool | None = None,
        review: str | int | float | bool | None = None,
        origin: str | int | float | bool | None = None,
        from_: str | int | float | bool | None = None,
        to: str | int | float | bool | None = None,
        session_id: str | int | float | bool | None = None,
        topic: str | int | float | bool | None = None,
        subject: str | int | float | bool | None = None,
        sensitive: str | int | float | bool | None = None,
        as_of: str | int | float | bool | None = None,
        known_at: str | int | float | bool | None = None,
        where_text: str | int | float | bool | None = None,
        by: str | int | float | bool | None = None,
        zone: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> MemoryFacets:
        """Counts memories by topic, person or thing, kind, or month."""
        sent = await self._send(
            "GET",
            "/api/v1/memories/{user_id}/facets",
            path={"user_id": user_id},
            query={"kind": kind, "type": type, "status": status, "quarantined": quarantined, "review": review, "origin": origin, "from": from_, "to": to, "session_id": session_id, "topic": topic, "subject": subject, "sensitive": sensitive, "as_of": as_of, "known_at": known_at, "where_text": where_text, "by": by, "zone": zone, "limit": limit},
        )
        return cast("MemoryFacets", sent)

    async def erase_user(
        self,
        user_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> ErasureReceipt:
        """Erases everything about a user."""
        sent = await self._send(
            "DELETE",
            "/api/v1/memories/{user_id}/all",
            path={"user_id": user_id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("ErasureReceipt", sent)

    async def undo(
        self,
        user_id: str,
        body: UndoBody,
        *,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Undoes a revision."""
        sent = await self._send(
            "POST",
            "/api/v1/memories/{user_id}/undo",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Receipt", sent)

    async def get_memory(
        self,
        user_id: str,
        id: str,
    ) -> Memory:
        """Gives one memory."""
        sent = await self._send(
            "GET",
            "/api/v1/memories/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
        )
        return cast("Memory", sent)

    async def change_memory(
        self,
        user_id: str,
        id: str,
        body: ChangeMemoryBody,
        *,
        idempotency_key: str | None = None,
    ) -> WrittenMemory:
        """Changes fields of a memory; the history keeps the old version."""
        sent = await self._send(
            "PATCH",
            "/api/v1/memories/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("WrittenMemory", sent)

    async def remove_memory(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Retracts a memory, which `undo` reverts."""
        sent = await self._send(
            "DELETE",
            "/api/v1/memories/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Receipt", sent)

    async def get_memory_history(
        self,
        user_id: str,
        id: str,
        *,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> GetMemoryHistoryResponse:
        """Lists the versions of a memory, oldest first."""
        sent = await self._send(
            "GET",
            "/api/v1/memories/{user_id}/{id}/history",
            path={"user_id": user_id, "id": id},
            query={"cursor": cursor, "limit": limit},
        )
        return cast("GetMemoryHistoryResponse", sent)

    async def get_stats(
        self,
        user_id: str,
        *,
        since: str | int | float | bool | None = None,
        until: str | int | float | bool | None = None,
        by: str | int | float | bool | None = None,
    ) -> Stats:
        """Counts a user's memories by kind and status, with the cost of their model calls."""
        sent = await self._send(
            "GET",
            "/api/v1/memories/{user_id}/stats",
            path={"user_id": user_id},
            query={"since": since, "until": until, "by": by},
        )
        return cast("Stats", sent)

    async def get_project_stats(
        self,
        *,
        since: str | int | float | bool | None = None,
        until: str | int | float | bool | None = None,
        by: str | int | float | bool | None = None,
    ) -> ProjectStats:
        """Gives the cost of the project's model calls, and its remaining budgets."""
        sent = await self._send(
            "GET",
            "/api/v1/stats",
            path={},
            query={"since": since, "until": until, "by": by},
        )
        return cast("ProjectStats", sent)

    async def search_memories(
        self,
        user_id: str,
        body: SearchMemoriesBody | None = None,
        *,
        query: str | int | float | bool | None = None,
        top_k: str | int | float | bool | None = None,
    ) -> Recall:
        """Finds memories relevant to a query."""
        sent = await self._send(
            "POST",
            "/api/v1/memories/{user_id}/search",
            path={"user_id": user_id},
            query={"query": query, "top_k": top_k},
            json=body,
            reads=True,
        )
        return cast("Recall", sent)

    async def build_context(
        self,
        body: BuildContextBody,
    ) -> Context:
        """Gives what a model is told before it answers a request."""
        sent = await self._send(
            "POST",
            "/api/v1/context",
            path={},
            query={},
            json=body,
            reads=True,
        )
        return cast("Context", sent)

    async def explain_recall(
        self,
        user_id: str,
        id: str,
        *,
        about: str | int | float | bool | None = None,
    ) -> RecallExplanation:
        """Explains which items an earlier recall returned or dropped, and why."""
        sent = await self._send(
            "GET",
            "/api/v1/memories/{user_id}/recalls/{id}",
            path={"user_id": user_id, "id": id},
            query={"about": about},
        )
        return cast("RecallExplanation", sent)

    async def list_prompts(
        self,
        user_id: str,
        *,
        session_id: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> GivenPrompts:
        """Gives what models were recently given from memory, word for word."""
        sent = await self._send(
            "GET",
            "/api/v1/prompts/{user_id}",
            path={"user_id": user_id},
            query={"session_id": session_id, "limit": limit},
        )
        return cast("GivenPrompts", sent)

    async def add_attachment(
        self,
        user_id: str,
        body: bytes,
        *,
        description: str | int | float | bool | None = None,
        text: str | int | float | bool | None = None,
        message_id: str | int | float | bool | None = None,
        session_id: str | int | float | bool | None = None,
        at: str | int | float | bool | None = None,
        idempotency_key: str | None = None,
        content_type: str = "image/png",
    ) -> Receipt:
        """Stores an image or a recording, as a message of the user."""
        sent = await self._send(
            "POST",
            "/api/v1/attachments/{user_id}",
            path={"user_id": user_id},
            query={"description": description, "text": text, "message_id": message_id, "session_id": session_id, "at": at},
            content=body,
            content_type=content_type,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Receipt", sent)

    async def list_attachments(
        self,
        user_id: str,
        *,
        type: str | int | float | bool | None = None,
        session_id: str | int | float | bool | None = None,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> ListAttachmentsResponse:
        """Lists the images and recordings of a user's messages, newest first."""
        sent = await self._send(
            "GET",
            "/api/v1/attachments/{user_id}",
            path={"user_id": user_id},
            query={"type": type, "session_id": session_id, "cursor": cursor, "limit": limit},
        )
        return cast("ListAttachmentsResponse", sent)

    async def get_attachment(
        self,
        user_id: str,
        id: str,
    ) -> Attachment:
        """Describes one image or recording."""
        sent = await self._send(
            "GET",
            "/api/v1/attachments/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
        )
        return cast("Attachment", sent)

    async def erase_attachment(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> ErasureReceipt:
        """Erases an image or a recording, the words that describe it, and memories that come only from these."""
        sent = await self._send(
            "DELETE",
            "/api/v1/attachments/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("ErasureReceipt", sent)

    async def get_attachment_content(
        self,
        user_id: str,
        id: str,
    ) -> Any:
        """Gives the bytes of an image or a recording."""
        sent = await self._send(
            "GET",
            "/api/v1/attachments/{user_id}/{id}/content",
            path={"user_id": user_id, "id": id},
            query={},
        )
        return cast("Any", sent)

    async def get_history(
        self,
        user_id: str,
        *,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> Log:
        """Lists the revisions of a user's memory, newest first."""
        sent = await self._send(
            "GET",
            "/api/v1/history/{user_id}",
            path={"user_id": user_id},
            query={"cursor": cursor, "limit": limit},
        )
        return cast("Log", sent)

    async def get_profile(
        self,
        user_id: str,
        *,
        max_tokens: str | int | float | bool | None = None,
    ) -> Profile:
        """Gives a short profile of what is currently known about a user."""
        sent = await self._send(
            "GET",
            "/api/v1/profile/{user_id}",
            path={"user_id": user_id},
            query={"max_tokens": max_tokens},
        )
        return cast("Profile", sent)

    async def list_changes(
        self,
        *,
        user_id: str | int | float | bool | None = None,
        after: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> ListChangesResponse:
        """Gives the changes of a user's memory after a revision, oldest first, or streams them."""
        sent = await self._send(
            "GET",
            "/api/v1/changes",
            path={},
            query={"user_id": user_id, "after": after, "limit": limit},
        )
        return cast("ListChangesResponse", sent)

    async def list_sessions(
        self,
        user_id: str,
        *,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> SessionPage:
        """Lists a user's sessions, most recent first."""
        sent = await self._send(
            "GET",
            "/api/v1/sessions/{user_id}",
            path={"user_id": user_id},
            query={"cursor": cursor, "limit": limit},
        )
        return cast("SessionPage", sent)

    async def start_session(
        self,
        user_id: str,
        body: StartSessionBody,
        *,
        idempotency_key: str | None = None,
    ) -> StartSessionResponse:
        """Starts a session: gives it a state for a day."""
        sent = await self._send(
            "POST",
            "/api/v1/sessions/{user_id}",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("StartSessionResponse", sent)

    async def get_session(
        self,
        user_id: str,
        id: str,
        *,
        sort: str | int | float | bool | None = None,
        start_at: str | int | float | bool | None = None,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> Session:
        """Lists the messages of a session."""
        sent = await self._send(
            "GET",
            "/api/v1/sessions/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={"sort": sort, "start_at": start_at, "cursor": cursor, "limit": limit},
        )
        return cast("Session", sent)

    async def erase_session(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> ErasureReceipt:
        """Erases the messages of a session, and memories that come only from it."""
        sent = await self._send(
            "DELETE",
            "/api/v1/sessions/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("ErasureReceipt", sent)

    async def get_message(
        self,
        user_id: str,
        id: str,
    ) -> StoredMessage:
        """Gives one message, with its session."""
        sent = await self._send(
            "GET",
            "/api/v1/messages/{user_id}/{id}",
            path={"user_id": user_id, "id": id},
            query={},
        )
        return cast("StoredMessage", sent)

    async def get_session_state(
        self,
        user_id: str,
        id: str,
    ) -> GetSessionStateResponse:
        """Gives the state of a session."""
        sent = await self._send(
            "GET",
            "/api/v1/sessions/{user_id}/{id}/state",
            path={"user_id": user_id, "id": id},
            query={},
        )
        return cast("GetSessionStateResponse", sent)

    async def update_session(
        self,
        user_id: str,
        id: str,
        body: UpdateSessionBody,
        *,
        idempotency_key: str | None = None,
    ) -> UpdateSessionResponse:
        """Changes the state of a session."""
        sent = await self._send(
            "PATCH",
            "/api/v1/sessions/{user_id}/{id}/state",
            path={"user_id": user_id, "id": id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("UpdateSessionResponse", sent)

    async def end_session(
        self,
        user_id: str,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> EndSessionResponse:
        """Ends a session: deletes its state."""
        sent = await self._send(
            "DELETE",
            "/api/v1/sessions/{user_id}/{id}/state",
            path={"user_id": user_id, "id": id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("EndSessionResponse", sent)

    async def erase(
        self,
        body: EraseBody,
        *,
        idempotency_key: str | None = None,
    ) -> ErasurePlan | ErasureReceipt:
        """Erases matching data from every store, with a receipt."""
        sent = await self._send(
            "POST",
            "/api/v1/erasures",
            path={},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("ErasurePlan | ErasureReceipt", sent)

    async def list_erasures(
        self,
        *,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
        user_id: str | int | float | bool | None = None,
    ) -> ListErasuresResponse:
        """Lists the erasure receipts of one user, or of the project, oldest first."""
        sent = await self._send(
            "GET",
            "/api/v1/erasures",
            path={},
            query={"cursor": cursor, "limit": limit, "user_id": user_id},
        )
        return cast("ListErasuresResponse", sent)

    async def get_erasure(
        self,
        id: str,
        *,
        user_id: str | int | float | bool | None = None,
    ) -> ErasureReceipt:
        """Gives the receipt of an erasure."""
        sent = await self._send(
            "GET",
            "/api/v1/erasures/{id}",
            path={"id": id},
            query={"user_id": user_id},
        )
        return cast("ErasureReceipt", sent)

    async def export_user(
        self,
        user_id: str,
        *,
        format: str | int | float | bool | None = None,
    ) -> Dict[str, Any]:
        """Exports everything about a user."""
        sent = await self._send(
            "GET",
            "/api/v1/export/{user_id}",
            path={"user_id": user_id},
            query={"format": format},
        )
        return cast("Dict[str, Any]", sent)

    async def import_user(
        self,
        user_id: str,
        body: bytes,
        *,
        extract: str | int | float | bool | None = None,
        format: str | int | float | bool | None = None,
        dry_run: str | int | float | bool | None = None,
        import_id: str | int | float | bool | None = None,
        content_type: str = "application/x-ndjson",
    ) -> Imported:
        """Imports a file: an export of Keepsake or of another program."""
        sent = await self._send(
            "POST",
            "/api/v1/import/{user_id}",
            path={"user_id": user_id},
            query={"extract": extract, "format": format, "dry_run": dry_run, "import_id": import_id},
            content=body,
            content_type=content_type,
        )
        return cast("Imported", sent)

    async def list_users(
        self,
        *,
        cursor: str | int | float | bool | None = None,
        limit: str | int | float | bool | None = None,
    ) -> UserPage:
        """Lists the users of the project, by name."""
        sent = await self._send(
            "GET",
            "/api/v1/users",
            path={},
            query={"cursor": cursor, "limit": limit},
        )
        return cast("UserPage", sent)

    async def list_jobs(
        self,
    ) -> ListJobsResponse:
        """Lists the background jobs and their state."""
        sent = await self._send(
            "GET",
            "/api/v1/jobs",
            path={},
            query={},
        )
        return cast("ListJobsResponse", sent)

    async def optimize(
        self,
        user_id: str,
        *,
        current_turn: str | int | float | bool | None = None,
        dry_run: str | int | float | bool | None = None,
        max_age_days: str | int | float | bool | None = None,
        min_importance: str | int | float | bool | None = None,
        kinds: str | int | float | bool | None = None,
        idempotency_key: str | None = None,
    ) -> Optimized:
        """Maintains a user's memories: expiry, consolidation, decay, clean-up."""
        sent = await self._send(
            "POST",
            "/api/v1/memories/{user_id}/optimize",
            path={"user_id": user_id},
            query={"current_turn": current_turn, "dry_run": dry_run, "max_age_days": max_age_days, "min_importance": min_importance, "kinds": kinds},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("Optimized", sent)

    async def list_settings(
        self,
    ) -> ListSettingsResponse:
        """Lists the server's settings: what is in force, and where it comes from."""
        sent = await self._send(
            "GET",
            "/api/v1/settings",
            path={},
            query={},
        )
        return cast("ListSettingsResponse", sent)

    async def list_keys(
        self,
    ) -> ListKeysResponse:
        """Lists the keys of the project, oldest first."""
        sent = await self._send(
            "GET",
            "/api/v1/keys",
            path={},
            query={},
        )
        return cast("ListKeysResponse", sent)

    async def create_key(
        self,
        body: CreateKeyBody,
    ) -> IssuedKey:
        """Creates a key for the project."""
        sent = await self._send(
            "POST",
            "/api/v1/keys",
            path={},
            query={},
            json=body,
        )
        return cast("IssuedKey", sent)

    async def rotate_key(
        self,
        id: str,
        body: RotateKeyBody | None = None,
    ) -> IssuedKey:
        """Replaces the secret of a key."""
        sent = await self._send(
            "POST",
            "/api/v1/keys/{id}/rotate",
            path={"id": id},
            query={},
            json=body,
        )
        return cast("IssuedKey", sent)

    async def revoke_key(
        self,
        id: str,
    ) -> None:
        """Revokes a key and its sessions."""
        sent = await self._send(
            "DELETE",
            "/api/v1/keys/{id}",
            path={"id": id},
            query={},
        )
        return cast("None", sent)

    async def get_project_embedder(
        self,
    ) -> ProjectEmbedder:
        """Gives the embedder of the project, the users with another one, and how far embedding is."""
        sent = await self._send(
            "GET",
            "/api/v1/embedders",
            path={},
            query={},
        )
        return cast("ProjectEmbedder", sent)

    async def choose_project_embedder(
        self,
        body: ChooseProjectEmbedderBody,
    ) -> ProjectEmbedder:
        """Chooses an embedder for the users of the project who have no choice of their own."""
        sent = await self._send(
            "PUT",
            "/api/v1/embedders",
            path={},
            query={},
            json=body,
        )
        return cast("ProjectEmbedder", sent)

    async def clear_project_embedder(
        self,
    ) -> ProjectEmbedder:
        """Removes the project's choice, so that the server's default applies again."""
        sent = await self._send(
            "DELETE",
            "/api/v1/embedders",
            path={},
            query={},
        )
        return cast("ProjectEmbedder", sent)

    async def get_user_embedder(
        self,
        user_id: str,
    ) -> UserEmbedder:
        """Gives the embedder of a user, and how far embedding is."""
        sent = await self._send(
            "GET",
            "/api/v1/embedders/{user_id}",
            path={"user_id": user_id},
            query={},
        )
        return cast("UserEmbedder", sent)

    async def choose_user_embedder(
        self,
        user_id: str,
        body: ChooseUserEmbedderBody,
        *,
        idempotency_key: str | None = None,
    ) -> UserEmbedder:
        """Chooses an embedder for a user, before that of the project."""
        sent = await self._send(
            "PUT",
            "/api/v1/embedders/{user_id}",
            path={"user_id": user_id},
            query={},
            json=body,
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("UserEmbedder", sent)

    async def clear_user_embedder(
        self,
        user_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> UserEmbedder:
        """Removes a user's choice, so that the project's applies again."""
        sent = await self._send(
            "DELETE",
            "/api/v1/embedders/{user_id}",
            path={"user_id": user_id},
            query={},
            takes_key=True,
            idempotency_key=idempotency_key,
        )
        return cast("UserEmbedder", sent)

    async def list_webhooks(
        self,
    ) -> ListWebhooksResponse:
        """Lists the webhooks of the project, oldest first."""
        sent = await self._send(
            "GET",
            "/api/v1/webhooks",
            path={},
            query={},
        )
        return cast("ListWebhooksResponse", sent)

    async def create_webhook(
        self,
        body: CreateWebhookBody,
    ) -> IssuedWebhook:
        """Registers a webhook."""
        sent = await self._send(
            "POST",
            "/api/v1/webhooks",
            path={},
            query={},
            json=body,
        )
        return cast("IssuedWebhook", sent)

    async def get_webhook(
        self,
        id: str,
    ) -> Webhook:
        """Gives a webhook, and how its deliveries go."""
        sent = await self._send(
            "GET",
            "/api/v1/webhooks/{id}",
            path={"id": id},
            query={},
        )
        return cast("Webhook", sent)

    async def update_webhook(
        self,
        id: str,
        body: UpdateWebhookBody,
    ) -> Webhook:
        """Changes a webhook."""
        sent = await self._send(
            "PATCH",
            "/api/v1/webhooks/{id}",
            path={"id": id},
            query={},
            json=body,
        )
        return cast("Webhook", sent)

    async def delete_webhook(
        self,
        id: str,
    ) -> None:
        """Removes a webhook."""
        sent = await self._send(
            "DELETE",
            "/api/v1/webhooks/{id}",
            path={"id": id},
            query={},
        )
        return cast("None", sent)

    async def list_webhook_attempts(
        self,
        id: str,
    ) -> ListWebhookAttemptsResponse:
        """Gives the last 25 attempts of a webhook, the newest first."""
        sent = await self._send(
            "GET",
            "/api/v1/webhooks/{id}/attempts",
            path={"id": id},
            query={},
        )
        return cast("ListWebhookAttemptsResponse", sent)

    async def test_webhook(
        self,
        id: str,
    ) -> WebhookAttempt:
        """Sends an event `webhook.test` now."""
        sent = await self._send(
            "POST",
            "/api/v1/webhooks/{id}/test",
            path={"id": id},
            query={},
        )
        return cast("WebhookAttempt", sent)

    async def rotate_webhook_secret(
        self,
        id: str,
        body: RotateWebhookSecretBody | None = None,
    ) -> IssuedWebhook:
        """Replaces the secret of a webhook."""
        sent = await self._send(
            "POST",
            "/api/v1/webhooks/{id}/rotate",
            path={"id": id},
            query={},
            json=body,
        )
        return cast("IssuedWebhook", sent)
