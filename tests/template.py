"""template.yaml and infra/ against the code: what `sam build` made comes in, every place where the two do not agree goes
out. What must never happen: that the table, a permission, a timeout or a metric is one thing there and another in the code.
Called by tests/template.sh, in the environment of SAM."""

import json
import re
import sys
from pathlib import Path

from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform

ROOT = Path(__file__).parent.parent
BUILD = Path(sys.argv[1])
wrong = []


def holds(is_so, what):
    if not is_so:
        wrong.append(what)


def source(path):
    return (ROOT / path).read_text()


def constant(name, text):
    found = re.search(rf'pub const {name}: &str = "([^"]+)"', text)
    return found and found.group(1)


def seconds(name):
    found = re.search(rf"{name}: Duration::from_secs\((\d+)\)", source("shared/config/src/config.rs"))
    return int(found.group(1))


def listed(value):
    return value if isinstance(value, list) else [value]


class Policies:
    """Nothing is asked of IAM: the template names no policy that AWS manages."""

    def load(self):
        return {}


built = yaml_parse((BUILD / "template.yaml").read_text())
parameters = built["Parameters"]
defaults = {name: parameter["Default"] for name, parameter in parameters.items()}
given = built["Resources"]
packaged = json.loads(json.dumps(built))
for resource in packaged["Resources"].values():
    place = {"AWS::Serverless::Function": "CodeUri", "AWS::Serverless::Application": "Location"}.get(resource["Type"])
    if place:
        resource["Properties"][place] = "s3://bucket/key" if place == "CodeUri" else "https://bucket.example.com/key"
transformed = transform(packaged, {}, Policies())["Resources"]
schema = source("shared/store/src/schema.rs")
word = {name: constant(name, schema) for name in "PK SK WORK_SHARD DUE_AT ACCEPTED_AT EXPIRES_AT WORK_INDEX OUTBOX".split()}

# Packages.
binaries = {
    "ReceiverFunction": "receiver",
    "RegistrarFunction": "registrar",
    "DispatcherFunction": "dispatcher",
    "SweeperFunction": "dispatcher",
    "ReconcilerFunction": "reconciler",
}
for function, binary in binaries.items():
    package = BUILD / function
    holds((package / "bootstrap").read_text().strip() == binary, f"{function} is not the binary {binary}")
    holds((package / "ackbox.toml").read_text() == source("ackbox.toml"), f"{function} has another configuration")
holds("&id" not in (BUILD / "template.yaml").read_text(), "aliases are left, which CloudFormation refuses")

# The table.
table = given["Table"]["Properties"]
index = table["GlobalSecondaryIndexes"][0]
names = lambda keys: [key["AttributeName"] for key in keys]
holds(names(table["KeySchema"]) == [word["PK"], word["SK"]], "the table's keys")
holds(index["IndexName"] == word["WORK_INDEX"], "the index's name")
holds(names(index["KeySchema"]) == [word["WORK_SHARD"], word["DUE_AT"]], "the index's keys")
holds(index["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": [word["ACCEPTED_AT"]]}, "the index's projection")
holds(table["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}, "the stream")
holds(table["TimeToLiveSpecification"] == {"AttributeName": word["EXPIRES_AT"], "Enabled": True}, "the expiry")
types = {attribute["AttributeName"]: attribute["AttributeType"] for attribute in table["AttributeDefinitions"]}
holds(types == {word["PK"]: "S", word["SK"]: "S", word["WORK_SHARD"]: "S", word["DUE_AT"]: "N"}, "the types of keys")

# The stream's mapping.
mapping = transformed["DispatcherFunctionEntries"]["Properties"]
pattern = {"eventName": ["INSERT"], "dynamodb": {"Keys": {word["SK"]: {"S": [word["OUTBOX"]]}}}}
filters = [json.loads(each["Pattern"]) for each in mapping["FilterCriteria"]["Filters"]]
holds(filters == [pattern], "the stream's filter")
holds(mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"], "partial failures")
holds(mapping["BisectBatchOnFunctionError"] is True, "batches are not bisected")
holds(0 < mapping["MaximumRetryAttempts"] < 100 and 60 <= mapping["MaximumRecordAgeInSeconds"] < 3600, "retries have no bound")
holds("OnFailure" in mapping["DestinationConfig"], "what is dropped is not told")

# Timeouts and the environment.
holds(defaults["DeliveryTimeout"] == seconds("function_timeout"), "DeliveryTimeout is not function_timeout's default")
holds(defaults["ReceiverTimeout"] > seconds("accept_budget") + 1, "ReceiverTimeout does not cover accept_budget")
variable = constant("TABLE_VARIABLE", source("functions/edge/src/lib.rs"))
holds(list(built["Globals"]["Function"]["Environment"]["Variables"]) == [variable], "the environment")

# Who may do what. A new call in the store is a new word here, and nowhere else is it granted.
item = "dynamodb:"
may = {
    "ReceiverRole": {"GetItem", "PutItem", "UpdateItem", "ConditionCheckItem"},
    "RegistrarRole": {"GetItem", "PutItem", "UpdateItem", "ConditionCheckItem", "Query", "DeleteItem"},
    "DispatcherRole": {"GetItem", "UpdateItem", "DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"},
    "SweeperRole": {"GetItem", "UpdateItem", "Query"},
    "ReconcilerRole": {"GetItem", "PutItem", "UpdateItem", "Query", "DeleteItem"},
}
for role, expected in may.items():
    actions = set()
    for policy in given[role]["Properties"]["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            statement = statement.get("Fn::If", [None, statement])[1]
            for action in listed(statement["Action"]):
                holds("*" not in action, f"{role} has {action}")
                actions |= {action.removeprefix(item)} if action.startswith(item) else set()
                if action == item + "DeleteItem":
                    leading = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
                    holds(leading == ["JOB#*"], f"{role} may delete more than what is parked")
            if statement["Sid"] != "Traces":
                holds("*" not in listed(statement["Resource"]), f"{role}: {statement['Sid']} names no resource")
    holds(actions == expected, f"{role}: {sorted(actions)} instead of {sorted(expected)}")

# Who may call.
permissions = [each["Properties"] for each in transformed.values() if each["Type"] == "AWS::Lambda::Permission"]
public = [each for each in permissions if each["Principal"] == "*"]
holds(all(each["FunctionName"] == {"Ref": "ReceiverFunction"} for each in public), "more than the receiver is public")
by_action = {each["Action"]: each for each in public}
holds(len(public) == 2 and len(by_action) == 2, "a public URL needs two permissions")
holds(by_action.get("lambda:InvokeFunctionUrl", {}).get("FunctionUrlAuthType") == "NONE", "the permission to call the URL")
holds(by_action.get("lambda:InvokeFunction", {}).get("InvokedViaFunctionUrl") is True, "the permission to invoke by the URL")
holds(transformed["RegistrarFunctionUrl"]["Properties"]["AuthType"] == "AWS_IAM", "the registrar is open")

# Metrics and alarms.
readme = source("infra/README.md")
known = set(re.findall(r"^\| `([A-Z]\w+)` \|", readme, re.M))
alarms = yaml_parse(source("infra/alarms.yaml"))["Resources"]
dashboard = yaml_parse(source("infra/dashboard.yaml"))["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
used = {each["Properties"]["MetricName"] for each in alarms.values() if each["Properties"].get("Namespace") == "ackbox"}
used |= set(re.findall(r"SUM\((\w+)\) FROM SCHEMA", source("infra/alarms.yaml")))
for widget in json.loads(dashboard)["widgets"]:
    for metric in widget["properties"].get("metrics", []):
        if metric[0] == "ackbox":
            used.add(metric[1])
        elif isinstance(metric[0], dict):
            used |= set(re.findall(r'MetricName="(\w+)"', metric[0]["expression"]))
holds(used == known, f"metrics that are in one place only: {sorted(used ^ known)}")
commands = source("docs/operate.md") + source("README.md") + source("docs/jobs.md")
for name, alarm in alarms.items():
    said = alarm["Properties"]["AlarmDescription"]
    holds("First:" in said, f"{name} does not say what to do")
    holds(len(said) <= 1024, f"{name} says more than CloudWatch keeps")
    for command in re.findall(r"`(ackbox [a-z]+(?: (?:add|list))?)", said):
        holds(command in commands, f"{name} names {command}, which no document explains")
    title = alarm["Properties"]["AlarmName"]["Fn::Sub"].removeprefix("${Prefix}-")
    holds(f"`{title}`" in readme, f"infra/README.md does not list {title}")

for each in wrong:
    print(f"template: {each}", file=sys.stderr)
sys.exit(bool(wrong))
