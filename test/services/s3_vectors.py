"""A server that speaks the protocol of S3 Vectors: moto, with what version 5.2.5 leaves out added here.

Added: QueryVectors, paging and segments of ListVectors, prefix and paging of ListIndexes, the ARNs in the answers of the
create operations, the conflict where an index is made twice, keys that no filter may use, time of creation and configuration
in GetIndex, and the limits of one request. Written from AWS's public pages (API reference, limitations and restrictions,
metadata filtering), not from answers of the service; ASSUMED marks what they leave open.
"""

import json
import math
import sys
import threading
from datetime import datetime, timezone

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult
from moto.s3vectors import urls
from moto.s3vectors.exceptions import ValidationError
from moto.s3vectors.responses import S3VectorsResponse
from moto.server import main

LARGEST_TOP = 100
LARGEST_PAGE = 1000
USUAL_PAGE = 500
MOST_PUT = 500
MOST_DELETED = 500
MOST_GOT = 100
MOST_INDEXES = 10_000
LONGEST_KEY = 1024
LARGEST_REQUEST = 20 * 1024 * 1024
LARGEST_METADATA = 40 * 1024
LARGEST_FILTERABLE = 2 * 1024
MOST_METADATA_KEYS = 50

# One index is made once, however many ask for it together.
making = threading.Lock()


class AlreadyThere(ServiceException):
    code = "ConflictException"


class QuotaExceeded(ServiceException):
    code = "ServiceQuotaExceededException"


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same(left, right):
    """1 and 1.0 are the same, 1 and True are not."""
    if is_number(left) and is_number(right):
        return left == right
    return type(left) is type(right) and left == right


ORDERS = {
    "$gt": lambda left, right: left > right,
    "$gte": lambda left, right: left >= right,
    "$lt": lambda left, right: left < right,
    "$lte": lambda left, right: left <= right,
}


def holds(operator, wanted, values, is_there):
    """Whether one condition holds for the values under a key. ASSUMED: of a list, one matching item is enough."""
    if operator == "$eq":
        return any(same(value, wanted) for value in values)
    if operator == "$ne":
        return not any(same(value, wanted) for value in values)
    if operator == "$in":
        return any(same(value, item) for value in values for item in wanted)
    if operator == "$nin":
        return not any(same(value, item) for value in values for item in wanted)
    if operator == "$exists":
        return is_there == wanted
    if operator in ORDERS and is_number(wanted):
        return any(is_number(value) and ORDERS[operator](value, wanted) for value in values)
    raise ValidationError("Invalid query filter: operator " + operator)


def matches(query, metadata):
    """Whether metadata passes a filter. An empty filter is refused, as the reference says of a condition without a key."""
    if not isinstance(query, dict) or not query:
        raise ValidationError("Invalid query filter")
    for key, condition in query.items():
        if key in ("$and", "$or"):
            if not isinstance(condition, list) or not condition:
                raise ValidationError("Invalid query filter: " + key + " takes a list")
            results = [matches(part, metadata) for part in condition]
            passed = all(results) if key == "$and" else any(results)
        elif key.startswith("$"):
            raise ValidationError("Invalid query filter: operator " + key)
        else:
            value = metadata.get(key)
            values = value if isinstance(value, list) else [value]
            conditions = condition if isinstance(condition, dict) else {"$eq": condition}
            passed = all(holds(name, wanted, values, key in metadata) for name, wanted in conditions.items())
        if not passed:
            return False
    return True


def keys_of(query):
    """The metadata keys that a filter asks about."""
    for key, condition in query.items():
        if key in ("$and", "$or"):
            for part in condition:
                yield from keys_of(part)
        else:
            yield key


def distance(metric, left, right):
    """ASSUMED: the distance of cosine is one minus the similarity; that of the other metric is the plain Euclidean one."""
    if metric == "euclidean":
        return math.dist(left, right)
    product = sum(x * y for x, y in zip(left, right))
    return 1 - product / ((math.hypot(*left) * math.hypot(*right)) or 1)


def index_of(response):
    names = {name: response._get_param(name) for name in ("indexArn", "indexName", "vectorBucketName")}
    response._validate_index_params(names["indexArn"], names["indexName"], names["vectorBucketName"])
    return response.s3vectors_backend.get_index(
        names["vectorBucketName"], index_name=names["indexName"], index_arn=names["indexArn"]
    )


def check_count(name, items, most):
    if not isinstance(items, list) or not 1 <= len(items) <= most:
        raise ValidationError(f"{name} must have between 1 and {most} members")


def check_key(key):
    if not isinstance(key, str) or not 1 <= len(key) <= LONGEST_KEY:
        raise ValidationError(f"A key must have between 1 and {LONGEST_KEY} characters")


def check_metadata(metadata, hidden):
    """Sizes are those of the JSON in UTF-8. ASSUMED: so they are measured."""
    if not isinstance(metadata, dict):
        raise ValidationError("Metadata must be an object")
    if len(metadata) > MOST_METADATA_KEYS:
        raise ValidationError(f"Metadata has more than {MOST_METADATA_KEYS} keys")
    for key, value in metadata.items():
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, (str, bool, int, float)):
                raise ValidationError("Metadata takes strings, numbers, booleans and lists of them: " + key)
    if size_of(metadata) > LARGEST_METADATA:
        raise ValidationError(f"Metadata is larger than {LARGEST_METADATA} bytes")
    if size_of({key: value for key, value in metadata.items() if key not in hidden}) > LARGEST_FILTERABLE:
        raise ValidationError(f"Filterable metadata is larger than {LARGEST_FILTERABLE} bytes")


def size_of(value):
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def check_vector(vector, hidden):
    check_key(vector.get("key"))
    numbers = vector.get("data", {}).get("float32")
    if not isinstance(numbers, list) or not all(is_number(one) and math.isfinite(one) for one in numbers):
        raise ValidationError("A vector must hold finite numbers")
    if not any(numbers):
        raise ValidationError("A vector for the cosine distance must not be all zeros")
    check_metadata(vector.get("metadata", {}), hidden)


def checked_put(put):
    def put_vectors(self):
        if len(self.body) > LARGEST_REQUEST:
            raise ValidationError(f"The request is larger than {LARGEST_REQUEST} bytes")
        vectors = json.loads(self.body).get("vectors")
        check_count("vectors", vectors, MOST_PUT)
        hidden = set(getattr(index_of(self), "hidden_keys", ()))
        for vector in vectors:
            check_vector(vector, hidden)
        if len({vector["key"] for vector in vectors}) < len(vectors):
            raise ValidationError("ASSUMED: a key stands twice in one request")
        return put(self)

    return put_vectors


def checked_keys(call, most):
    def with_keys(self):
        keys = json.loads(self.body).get("keys")
        check_count("keys", keys, most)
        for key in keys:
            check_key(key)
        return call(self)

    return with_keys


def list_indexes(self):
    body = json.loads(self.body)
    indexes = self.s3vectors_backend.list_indexes(body.get("vectorBucketName"), body.get("vectorBucketArn"))
    named = {one.index_name: one for one in indexes if one.index_name.startswith(body.get("prefix") or "")}
    names, start, size = sorted(named), int(body.get("nextToken") or 0), body.get("maxResults") or USUAL_PAGE
    if not 1 <= size <= USUAL_PAGE:
        raise ValidationError(f"maxResults must be between 1 and {USUAL_PAGE}")
    end = start + size
    page = [summary_of(named[name]) for name in names[start:end]]
    return ActionResult({"nextToken": str(end) if end < len(names) else None, "indexes": page})


def summary_of(index):
    return {
        "vectorBucketName": index.vectorBucketName,
        "indexName": index.index_name,
        "indexArn": index.index_arn,
        "creationTime": index.created_at.timestamp(),
    }


def shown(vector, body):
    return {
        "key": vector.key,
        "data": vector.data if body.get("returnData") else None,
        "metadata": vector.metadata if body.get("returnMetadata") else None,
    }


def query_vectors(self):
    """The nearest vectors, exactly. ASSUMED: the service, whose search is approximate, finds the same among few."""
    index, body = index_of(self), json.loads(self.body)
    wanted, top, query = body["queryVector"]["float32"], body["topK"], body.get("filter")
    if not 1 <= top <= LARGEST_TOP:
        raise ValidationError(f"topK must be between 1 and {LARGEST_TOP}")
    if len(wanted) != index.dimension:
        raise ValidationError(f"Query vector must have {index.dimension} dimensions, and has {len(wanted)}")
    if query is not None:
        hidden = set(getattr(index, "hidden_keys", ())) & set(keys_of(query))
        if hidden:
            raise ValidationError("Invalid query filter: not filterable: " + ", ".join(sorted(hidden)))
    found = [vector for vector in index.vectors.values() if query is None or matches(query, vector.metadata or {})]
    ranked = sorted((distance(index.distance_metric, wanted, vector.data["float32"]), vector.key) for vector in found)
    answer = []
    for far, key in ranked[:top]:
        item = shown(index.vectors[key], body)
        del item["data"]
        if body.get("returnDistance"):
            item["distance"] = far
        answer.append(item)
    return ActionResult({"distanceMetric": index.distance_metric, "vectors": answer})


def list_vectors(self):
    index, body = index_of(self), json.loads(self.body)
    keys = sorted(index.vectors)
    if body.get("segmentCount"):
        keys = keys[body["segmentIndex"] :: body["segmentCount"]]
    start, size = int(body.get("nextToken") or 0), body.get("maxResults") or USUAL_PAGE
    if not 1 <= size <= LARGEST_PAGE:
        raise ValidationError(f"maxResults must be between 1 and {LARGEST_PAGE}")
    end = start + size
    page = [shown(index.vectors[key], body) for key in keys[start:end]]
    return ActionResult({"nextToken": str(end) if end < len(keys) else None, "vectors": page})


def with_bucket_arn(create):
    def create_vector_bucket(self):
        create(self)
        name = self._get_param("vectorBucketName")
        bucket = self.s3vectors_backend.get_vector_bucket(name, vector_bucket_arn=None)
        return ActionResult({"vectorBucketArn": bucket.vector_bucket_arn})

    return create_vector_bucket


def with_index_arn(create):
    def create_index(self):
        body = json.loads(self.body)
        with making:
            bucket = self.s3vectors_backend.get_vector_bucket(body.get("vectorBucketName"), body.get("vectorBucketArn"))
            if any(one.index_name == body["indexName"] for one in bucket.indexes.values()):
                raise AlreadyThere("An index with the specified name already exists")
            if len(bucket.indexes) >= MOST_INDEXES:
                raise QuotaExceeded("The vector bucket holds as many indexes as it may")
            return made_index(self, body)

    def made_index(self, body):
        create(self)
        index = index_of(self)
        index.hidden_keys = (body.get("metadataConfiguration") or {}).get("nonFilterableMetadataKeys", [])
        index.created_at = datetime.now(timezone.utc)
        return ActionResult({"indexArn": index.index_arn})

    return create_index


def get_index(self):
    index = index_of(self)
    hidden = list(getattr(index, "hidden_keys", ()))
    return ActionResult(
        {
            "index": {
                **summary_of(index),
                "dataType": index.data_type,
                "dimension": index.dimension,
                "distanceMetric": index.distance_metric,
                "metadataConfiguration": {"nonFilterableMetadataKeys": hidden} if hidden else None,
            }
        }
    )


S3VectorsResponse.query_vectors = query_vectors
S3VectorsResponse.list_vectors = list_vectors
S3VectorsResponse.create_vector_bucket = with_bucket_arn(S3VectorsResponse.create_vector_bucket)
S3VectorsResponse.create_index = with_index_arn(S3VectorsResponse.create_index)
S3VectorsResponse.get_index = get_index
S3VectorsResponse.list_indexes = list_indexes
S3VectorsResponse.put_vectors = checked_put(S3VectorsResponse.put_vectors)
S3VectorsResponse.get_vectors = checked_keys(S3VectorsResponse.get_vectors, MOST_GOT)
S3VectorsResponse.delete_vectors = checked_keys(S3VectorsResponse.delete_vectors, MOST_DELETED)
urls.url_paths["{0}/QueryVectors$"] = S3VectorsResponse.dispatch

if __name__ == "__main__":
    main(sys.argv[1:])
