"""A server that speaks the protocol of S3 Vectors: moto, with what version 5.2.5 leaves out added here.

Added: QueryVectors, paging and segments of ListVectors, the ARNs in the answers of the create operations, keys that no
filter may use, time of creation and configuration in GetIndex. Written from AWS's public API reference, not from answers
of the service; ASSUMED marks what the reference leaves open.
"""

import json
import math
import sys
from datetime import datetime, timezone

from moto.core.responses import ActionResult
from moto.s3vectors import urls
from moto.s3vectors.exceptions import ValidationError
from moto.s3vectors.responses import S3VectorsResponse
from moto.server import main

LARGEST_TOP = 100
LARGEST_PAGE = 1000
USUAL_PAGE = 500


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
        create(self)
        body = json.loads(self.body)
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
                "vectorBucketName": index.vectorBucketName,
                "indexName": index.index_name,
                "indexArn": index.index_arn,
                "creationTime": index.created_at.timestamp(),
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
urls.url_paths["{0}/QueryVectors$"] = S3VectorsResponse.dispatch

if __name__ == "__main__":
    main(sys.argv[1:])
