import Contract
import Foundation
import HTTPTypes
import JSON
import Testing
import Vitals

@testable import Web

/// Which resources there are, what the OpenAPI document says of them, and what commands become.
@Suite struct APIPageTests {
    // MARK: - Resources

    @Test func `what is not there, or is asked for in another way, is refused as the document says`() async throws {
        let api = try ShownAPI(try ShownData.ofTwo())
        for path in [
            "", "nothing", "devices/", "devices/other", "devices/other/samples", "devices/band-1/x", "devices/a/b/c/d",
        ] {
            let answer = await api.ask(path)
            #expect(answer.status == 404 && answer.code == "not_found", "\(path)")
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
            let answer = await api.ask("devices", method: method)
            #expect(answer.status == 405 && answer.header("Allow") == "GET, HEAD")
        }
        #expect(await api.ask("commands/sync").header("Allow") == "POST")
        #expect(await api.ask("devices/%62and-1").status == 200)
        #expect(await api.ask("devices", method: "HEAD").status == 200)
    }

    @Test func `a device has its states by their topics, with the payloads of MQTT`() async throws {
        let data = try ShownData.ofTwo()
        let band = try ShownData.id("band-1")
        let beat = try ShownData.beat(0, 71)
        data.set { state in
            state.states[band] = [
                .availability(isOnline: true), .link(LinkState(phase: .connected, since: ShownData.dawn)),
                .latest(LatestState(stored: beat, freshUntil: nil, isStale: false)),
            ]
        }
        let device = try await ShownAPI(data).ask("devices/band-1").json
        #expect(device["name"] == "Band" && device["person"] == "anna" && device["driver"] == "simulator")
        let states = device["states"]
        #expect(states?["availability"] == "online" && states?["link"]?["state"] == "connected")
        #expect(states?["latest/heart_rate"]?["value"] == 71 && states?["latest/heart_rate"]?["person"] == "anna")
    }

    // MARK: - Commands

    @Test func `a command gets an id, and its final answer with the status for its code`() async throws {
        let data = try ShownData.ofTwo()
        let api = try ShownAPI(data)
        data.set { $0.answers = [("{\"status\":\"accepted\"}", false), ("{\"status\":\"done\",\"data\":{}}", true)] }
        let done = await api.post("devices/band-1/commands/sync", " {\"metrics\": [\"steps\"]}")
        #expect(done.status == 200 && done.json["status"] == "done")
        let sent = try JSONValue(parsing: Array(try #require(data.now.commands.last).arguments.utf8))
        #expect(data.now.commands.last?.name == "band-1/sync")
        #expect(sent["metrics"]?[0] == "steps" && SampleID(sent["id"]?.asString ?? "") != nil)
        for code in AnswerCode.allCases {
            data.set {
                $0.answers = [("{\"status\":\"failed\",\"code\":\"\(code.rawValue)\",\"message\":\"m\"}", true)]
            }
            let refused = await api.post("commands/scan", "{}")
            #expect(refused.status == APIPage.status(of: code) && refused.code == code.rawValue)
            #expect(refused.json["answer"]?["status"] == "failed")
            #expect((400..<500).contains(refused.status))
        }
    }

    @Test func `an id of the client stays, and that of an acknowledgement is the alert's`() async throws {
        let data = try ShownData.ofTwo()
        data.set { $0.answers = [("{\"status\":\"done\"}", true)] }
        let api = try ShownAPI(data)
        _ = await api.post("commands/sync", "{\"id\":\"mine\"}")
        _ = await api.post("devices/band-1/commands/acknowledge", "{\"by\":\"anna\"}")
        #expect(data.now.commands.map(\.arguments) == ["{\"id\":\"mine\"}", "{\"by\":\"anna\"}"])
    }

    @Test func `a command that takes longer than is waited is 202, with what is known of it`() async throws {
        let data = try ShownData.ofTwo()
        let api = try ShownAPI(data)
        let silent = await api.post("devices/band-1/commands/measure?wait=0", "{\"id\":\"m\"}")
        #expect(silent.status == 202 && silent.json["id"] == "m" && silent.json["status"] == "accepted")
        data.set { $0.answers = [("{\"status\":\"accepted\",\"command\":\"measure\"}", false)] }
        let accepted = await api.post("devices/band-1/commands/measure?wait=0", "{}")
        #expect(accepted.status == 202 && accepted.json["command"] == "measure")
        #expect(await api.post("devices/band-1/commands/measure?wait=61", "{}").status == 400)
    }

    @Test(arguments: ["", "[]", "{", "null"]) func `what is no object is not sent`(body: String) async throws {
        let data = try ShownData.ofTwo()
        let answer = try await ShownAPI(data).post("devices/band-1/commands/sync", body)
        #expect(answer.status == 400 && answer.code == "bad_json" && data.now.commands.isEmpty)
    }

    // MARK: - The OpenAPI document

    private func document() async throws -> JSONValue {
        let answer = try await ShownAPI(try ShownData.ofTwo(), isOpen: false).ask("openapi.json")
        #expect(answer.status == 200)
        return answer.json
    }

    /// The parameters of an operation, with those that it refers to.
    private func parameters(_ operation: JSONValue?, in document: JSONValue) -> [JSONValue] {
        (operation?["parameters"]?.asArray ?? []).compactMap { parameter in
            guard let name = parameter["$ref"]?.asString?.split(separator: "/").last else { return parameter }
            return document["components"]?["parameters"]?[String(name)]
        }
    }

    @Test func `the document has each resource with its method and parameters, and no other`() async throws {
        let document = try await document()
        #expect(document["openapi"] == "3.1.0")
        let paths = document["paths"]?.asObject ?? []
        #expect(Set(paths.map(\.key)) == Set(APIEndpoint.all.map { APIEndpoint.root + $0.path }))
        for endpoint in APIEndpoint.all {
            let resource = document["paths"]?[APIEndpoint.root + endpoint.path]
            let method = endpoint.isCommand ? "post" : "get"
            #expect(resource?.asObject?.map(\.key) == [method], "\(endpoint.path)")
            let operation = resource?[method]
            let found = parameters(operation, in: document)
            let query = found.filter { $0["in"] == "query" }.compactMap { $0["name"]?.asString }
            #expect(Set(query) == Set(endpoint.parameters.map(\.rawValue)), "\(endpoint.path)")
            #expect(found.contains { $0["in"] == "path" } == endpoint.path.contains("{id}"), "\(endpoint.path)")
            let limit = found.first { $0["name"] == "limit" }?["schema"]
            #expect(limit?["maximum"]?.asInt == endpoint.page?.range.upperBound, "\(endpoint.path)")
            #expect(limit?["default"]?.asInt == endpoint.page?.default, "\(endpoint.path)")
            if let cursor = found.first(where: { $0["name"] == "cursor" })?["schema"]?["pattern"]?.asString {
                let isSample = [APIEndpoint.samples, .nights].contains(endpoint)
                #expect(cursor == APICursor.pattern(isSample ? APIPage.sampleNumbers : APIPage.rangeNumbers))
            }
        }
    }

    @Test func `the document has the metrics, waits and forms of the code, and every status that it gives`()
        async throws
    {
        let document = try await document()
        let schemas = document["components"]?["schemas"]
        #expect(schemas?["Metric"]?["enum"]?.asArray?.compactMap(\.asString) == Metric.allCases.map(\.rawValue))
        let wait = document["components"]?["parameters"]?["wait"]?["schema"]
        #expect(
            wait?["minimum"]?.asInt == APIParameter.waits.lowerBound
                && wait?["maximum"]?.asInt == APIParameter.waits.upperBound)
        #expect(wait?["default"]?.asInt == APIParameter.defaultWait)
        let forms = document["components"]?["parameters"]?["format"]?["schema"]?["enum"]
        #expect(forms?.asArray?.compactMap(\.asString) == APIFormat.allCases.map(\.rawValue))
        let edges = schemas?["Answer"]?["properties"]?["status"]?["enum"]
        #expect(edges?.asArray?.compactMap(\.asString) == Answer.Status.allCases.map(\.rawValue))
        for endpoint in APIEndpoint.all where endpoint.isCommand {
            let responses = document["paths"]?[APIEndpoint.root + endpoint.path]?["post"]?["responses"]?.asObject
            let expected = Set(AnswerCode.allCases.map { "\(APIPage.status(of: $0))" }).union([
                "200", "202", "401", "403", "405", "406", "415",
            ])
            #expect(Set(responses?.map(\.key) ?? []) == expected, "\(endpoint.path)")
        }
    }

    @Test func `the schema of a sample and of an alert has the members that are written`() async throws {
        let document = try await document()
        let data = try ShownData.ofTwo()
        let moment = ShownData.dawn
        data.set { state in
            state.samples = [try? ShownData.beat(0)].compactMap(\.self)
            state.alerts = [
                AlertEvent(
                    id: SampleID(name: "a"), rule: AlertRule(.stress, .high), edge: .raised, value: 90, limit: 80,
                    origin: .gateway, measuredAt: moment, raisedAt: moment, sampleID: nil)
            ]
        }
        let api = try ShownAPI(data)
        let sample = await api.ask("devices/band-1/samples?metric=heart_rate").json["samples"]?[0]
        let alert = await api.ask("devices/band-1/alerts").json["alerts"]?[0]
        for (name, written) in [("Sample", sample), ("Alert", alert)] {
            let schema = document["components"]?["schemas"]?[name]
            let members = Set(written?.asObject?.map(\.key) ?? [])
            let required = Set(schema?["required"]?.asArray?.compactMap(\.asString) ?? [])
            let known = Set(schema?["properties"]?.asObject?.map(\.key) ?? [])
            #expect(!required.isEmpty && required.isSubset(of: members), "\(name): \(required.subtracting(members))")
            #expect(members.isSubset(of: known), "\(name): \(members.subtracting(known))")
        }
    }
}
