"""Single messages held against the published JSON schema of a revision of the protocol."""

from jsonschema.validators import validator_for


class Wire:
    """One revision's schema, and which of its definitions a message has to meet."""

    def __init__(self, schema):
        self.kind = validator_for(schema)
        self.kind.check_schema(schema)
        self.schema = schema
        self.place = "$defs" if "$defs" in schema else "definitions"
        self.by_method = {}
        self.by_code = {}
        for name, definition in schema[self.place].items():
            properties = definition.get("properties", {})
            method = properties.get("method", {}).get("const")
            if method is not None:
                self.by_method[method] = name
            for part in properties.get("error", {}).get("allOf", []):
                code = part.get("properties", {}).get("code", {}).get("const")
                if code is not None:
                    self.by_code[code] = name

    def check(self, message, asked=None):
        """Raises unless the message is well formed; `asked` is the method that it answers."""
        if "method" in message:
            other = "JSONRPCRequest" if "id" in message else "JSONRPCNotification"
            self.meets(self.by_method.get(message["method"], other), message)
        elif "error" in message:
            general = self.first("JSONRPCErrorResponse", "JSONRPCError")
            self.meets(self.by_code.get(message["error"].get("code"), general), message)
        else:
            self.meets(self.first("JSONRPCResultResponse", "JSONRPCResponse"), message)
            self.meets(self.result(message["result"], asked), message["result"])

    def result(self, result, asked):
        if result.get("resultType") == "input_required":
            return "InputRequiredResult"
        name = self.by_method[asked].removesuffix("Request") + "Result"
        return self.first(name, "EmptyResult")

    def first(self, *names):
        """The first of these that the revision has: their names changed."""
        return next(name for name in names if name in self.schema[self.place])

    def meets(self, name, value):
        self.kind({**self.schema, "$ref": f"#/{self.place}/{name}"}).validate(value)
