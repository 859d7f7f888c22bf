import GatewayKit
import GatewayTesting
import JSON
import Subprocess
import TestSupport
import Testing
import Vitals

@testable import Web

/// The requests that apps make of Nightscout, as their source has them (`Plugins/Phones/README.md` names the files), with a real curl.
@Suite(.timeLimit(.minutes(3))) struct NightscoutPostTests {
    private static let secret = "clara's sixteen letters"
    /// The same by `sha1sum`.
    private static let hash = "b6d5972736bb7d047d7c565d896bd9134abc5cc4"
    private static let base = "/v1/devices/claras-sensor/api/v1"

    /// A listener for which clara's sensor is known, whose driver answers with the number of bytes.
    private func withSensor(
        _ options: KeyValuePairs<String, ConfigurationValue> = [:],
        _ body: @escaping @Sendable (Office, Recorder<String>) async throws -> Void
    ) async throws {
        try await Office.with(options) { office in
            try office.expect("claras-sensor", token: Self.secret)
            let documents = Recorder<String>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await office.serve("claras-sensor", token: Self.secret) { document in
                        documents.append(String(decoding: document.bytes, as: UTF8.self))
                        var report = DocumentReport()
                        report.new = document.bytes.count
                        return .stored(report)
                    }
                }
                try await body(office, documents)
                group.cancelAll()
            }
        }
    }

    /// A request of an app. What it sends is JSON where there is something.
    private func call(
        _ office: Office, _ method: String, _ path: String, _ body: String = "", type: String = "application/json",
        headers: [String], more: [String] = []
    ) async throws -> Office.Answer {
        try await office.post(
            path, type: body.isEmpty ? nil : type, Array(body.utf8),
            more: ["--globoff", "--request", method] + headers.flatMap { ["--header", $0] } + more)
    }

    @Test func `what xDrip+ asks and uploads gets the answers with which it goes on`() async throws {
        try await withSensor { office, documents in
            // What okhttp adds.
            let headers = [
                "api-secret: \(Self.hash)", "Connection: Keep-Alive", "Accept-Encoding: gzip",
                "User-Agent: okhttp/4.12.0",
            ]
            func call(_ method: String, _ path: String, _ body: String = "") async throws -> Office.Answer {
                let answer = try await self.call(
                    office, method, Self.base + path, body, type: "application/json; charset=utf-8", headers: headers)
                #expect(answer.status == 200, "\(method) \(path) \(answer)")
                // By these the app learns to compress what it sends.
                #expect(!answer.headers.contains("accept-encoding") && !answer.headers.contains("x-powered-by"))
                return answer
            }
            let status = try await call("GET", "/status.json").json
            #expect(status["status"] == "ok" && status["apiEnabled"] == true)
            // It takes no treatments of versions before 0.9.
            #expect(status["version"] == "15.0.0")
            #expect(status["settings"]?["units"] == "mg/dl")
            let entries =
                #"[{"device":"xDrip-DexcomG5","date":1767614400000,"dateString":"2026-01-05T13:00:00.000+0100","sgv":112,"delta":-1.993,"direction":"Flat","type":"sgv","filtered":112000,"unfiltered":112000,"rssi":100,"noise":1,"sysTime":"2026-01-05T13:00:00.000+0100"}]"#
            let report = try await call("POST", "/entries", entries).json
            #expect(report.asArray?.count == 1 && report.asArray?.first?["new"]?.asInt == entries.utf8.count)
            let battery = #"{"device":"Google Pixel 8","uploader":{"battery":60,"type":"PHONE"}}"#
            _ = try await call("POST", "/devicestatus", battery)
            let treatment =
                #"{"timestamp":1767614400000,"eventType":"<none>","carbs":20,"_id":"0123456789abcdef01234567"}"#
            _ = try await call("PUT", "/treatments", treatment)
            _ = try await call("POST", "/activity", #"[{"type":"hr-bpm","timeStamp":1767614400000,"bpm":60}]"#)
            #expect(documents.elements.count == 4 && documents.elements.prefix(3) == [entries, battery, treatment])
            #expect(try await call("GET", "/treatments").json.asArray == [])
            #expect(try await call("GET", "/treatments.json?find[uuid]=4d7c").json.asArray == [])
            #expect(try await call("DELETE", "/treatments/0123456789abcdef01234567").json == [:])
            #expect(documents.elements.count == 4)
        }
    }

    @Test func `what Juggluco uploads gets the answers with which it goes on`() async throws {
        try await withSensor { office, documents in
            let headers = ["api-secret: \(Self.hash)", "User-Agent: Dalvik/2.1.0 (Linux; U; Android 14)"]
            let entries =
                #"[{"type":"sgv","device":"3MH00ABCDEF","dateString":"2026-01-05T13:00:00.000+0100","date":1767614400000,"sgv":112,"delta":0.500,"direction":"Flat","noise":1,"filtered":112000,"unfiltered":112000,"rssi":100}]"#
            // The app puts its path behind whatever URL it was given.
            for base in ["/v1/devices/claras-sensor", "/v1/devices/claras-sensor/"] {
                let answer = try await call(office, "POST", "\(base)/api/v1/entries", entries, headers: headers)
                #expect(answer.status == 200 && answer.json.asArray?.count == 1)
            }
            let put = try await call(
                office, "PUT", "\(Self.base)/treatments", #"{"eventType":"<none>","carbs":20,"notes":""}"#,
                headers: headers)
            #expect(put.status == 200)
            let deletion = try await call(office, "DELETE", "\(Self.base)/treatments/65a0", headers: headers)
            #expect(deletion.status == 200)
            #expect(documents.elements.prefix(2) == [entries, entries])
            // With "V3" it asks for a token first.
            for (method, path) in [
                ("GET", "v2/authorization/request/x"), ("POST", "v3/entries"), ("POST", "v3/treatments"),
            ] {
                let answer = try await call(office, method, "/v1/devices/claras-sensor/api/\(path)", headers: headers)
                #expect(answer.status == 404)
                #expect(answer.json["error"]?["message"]?.asString?.contains("only version 1 is taken") == true)
            }
        }
    }

    @Test func `others try their secret first, or have it in the query`() async throws {
        try await withSensor { office, documents in
            let secrets = [
                ("", ["api-secret: \(Self.hash)"]), ("", ["API-SECRET: \(Self.hash.uppercased())"]),
                ("", ["api-secret: token=\(Self.secret)"]), ("", ["Authorization: Bearer \(Self.secret)"]),
            ]
            for (query, headers) in secrets {
                let test = try await call(office, "GET", "\(Self.base)/experiments/test\(query)", headers: headers)
                #expect(test.status == 200 && test.json == ["status": "ok"], "\(headers)")
            }
            try office.expect("bens-sensor", token: "0123456789abcdef")
            let path = "/v1/devices/bens-sensor/api/v1/experiments/test.json?count=1&token=0123456789abcdef"
            #expect(try await call(office, "GET", path, headers: ["Accept: application/json"]).status == 200)
            for path in ["entries.json?count=10", "entries/sgv.json", "entries", "profile", "devicestatus.json"] {
                let answer = try await call(
                    office, "GET", "\(Self.base)/\(path)", headers: ["api-secret: \(Self.hash)"])
                #expect(answer.status == 200 && answer.json.asArray == [], "\(path)")
            }
            #expect(documents.elements.isEmpty)
        }
    }

    @Test func `an app may pack what it uploads by gzip, and a few bytes must not become too many`() async throws {
        func packed(_ bytes: [UInt8]) async throws -> [UInt8] {
            let result = try await Subprocess.run(
                .name("gzip"), arguments: ["-c"], input: .array(bytes), output: .bytes(limit: 1 << 20))
            return result.standardOutput
        }
        // As okhttp sends what it packs while it sends it.
        let more = ["api-secret: \(Self.hash)", "Content-Encoding: gzip", "Transfer-Encoding: chunked"]
            .flatMap { ["--header", $0] }
        let entries = Array(#"[{"type":"sgv","sgv":112,"date":1767614400000}]"#.utf8)
        let small = try await packed(entries)
        let longest = try await packed([UInt8](repeating: 32, count: BodyBudget.maximumBody))
        let bomb = try await packed([UInt8](repeating: 32, count: BodyBudget.maximumBody + 1))
        #expect(bomb.count < 100_000)
        try await withSensor { office, documents in
            func status(_ bytes: [UInt8]) async throws -> Int {
                try await office.post("\(Self.base)/entries", bytes, more: more).status
            }
            var statuses: [Int] = []
            for bytes in [small, longest, bomb, Array(small.dropLast()), small + [0], entries, []] {
                statuses.append(try await status(bytes))
            }
            #expect(statuses == [200, 200, 413, 400, 400, 400, 400])
            #expect(documents.elements.first == String(decoding: entries, as: UTF8.self))
            #expect(documents.elements.count == 2)
        }
    }

    @Test func `a wrong secret is refused, and waits`() async throws {
        try await withSensor { office, documents in
            func status(_ path: String, _ headers: [String]) async throws -> Int {
                try await call(office, "POST", path, "[]", headers: headers).status
            }
            var statuses: [Int] = []
            for (path, headers) in [
                ("\(Self.base)/entries", []), ("\(Self.base)/entries", ["api-secret:"]),
                // The hash is only for apps of Nightscout.
                ("/v1/devices/claras-sensor", ["api-secret: \(Self.hash)"]),
                ("\(Self.base)/entries?token=", ["api-secret: \(Self.secret)"]),
                ("\(Self.base)/entries", ["api-secret: \(Self.hash)"]),
            ] as [(String, [String])] {
                statuses.append(try await status(path, headers))
            }
            #expect(statuses == [401, 401, 401, 401, 429])
            #expect(documents.elements.isEmpty)
        }
    }

    @Test func `without TLS a secret is taken of this machine only, unless the configuration allows it`() async throws {
        let proxy = ConfigurationValue(.scalar("127.0.0.1", isQuoted: true))
        let yes = ConfigurationValue(.scalar("true", isQuoted: false))
        func answers(_ options: KeyValuePairs<String, ConfigurationValue>, _ forwarded: [[String]]) async throws
            -> [Office.Answer]
        {
            let answers = Recorder<Office.Answer>()
            try await withSensor(options) { office, _ in
                for headers in forwarded {
                    let secret = ["api-secret: \(Self.hash)"]
                    answers.append(
                        try await call(office, "POST", "\(Self.base)/entries", "[]", headers: secret + headers))
                }
            }
            return answers.elements
        }
        let plain = ["X-Forwarded-For: 192.0.2.7"]
        let secure = plain + ["X-Forwarded-Proto: https"]
        #expect(try await answers([:], [[]]).map(\.status) == [200])
        let proxied = try await answers(
            ["trusted_proxies": proxy], [plain, plain + ["X-Forwarded-Proto: http"], [], secure])
        #expect(proxied.map(\.status) == [403, 403, 403, 200])
        let message = proxied.first?.json["error"]?["message"]?.asString ?? ""
        #expect(message.contains("Use https:// in the app") && message.contains("plain_api_secret: true"))
        let allowed = try await answers(["trusted_proxies": proxy, "plain_api_secret": yes], [plain])
        #expect(allowed.map(\.status) == [200])
    }

    @Test func `what is not taken of Nightscout's API says so`() async throws {
        try await withSensor { office, documents in
            for (method, path, status) in [
                ("GET", "alexa", 404), ("GET", "experiments/other", 404), ("GET", "", 404), ("POST", "status", 405),
                ("POST", "profile", 405), ("DELETE", "entries/1", 405), ("POST", "entries/sgv", 405),
                ("PUT", "profile", 405),
            ] {
                let answer = try await call(
                    office, method, "\(Self.base)/\(path)", headers: ["api-secret: \(Self.hash)"])
                #expect(answer.status == status, "\(method) \(path)")
            }
            // The gateway's own API is elsewhere.
            #expect(try await call(office, "GET", "/api/v1/status", headers: []).status == 404)
            let zipped = try await call(
                office, "POST", "\(Self.base)/entries", "[]",
                headers: ["api-secret: \(Self.hash)", "Content-Encoding: br"])
            #expect(zipped.status == 415)
            let form = try await call(
                office, "POST", "\(Self.base)/entries", "sgv=112", type: "application/x-www-form-urlencoded",
                headers: ["api-secret: \(Self.hash)"])
            #expect(form.status == 415)
            #expect(documents.elements.isEmpty)
        }
    }
}
