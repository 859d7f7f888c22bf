import Concurrency
import Foundation
import GatewayKit
import GatewayTesting
import JSON
import Logging
import TestSupport
import Testing
import Vitals

@testable import Web

/// Phones post over real connections on loopback, with a real curl.
@Suite(.timeLimit(.minutes(3))) struct PostTests {
    @Test func `an answer says how many samples were new, known and refused`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "s3cret")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await office.serve("phone-1", token: "s3cret") { document in
                        #expect(document.mediaType == "application/json")
                        var report = DocumentReport()
                        report.new = 3
                        report.known = 2
                        report.corrected = 1
                        report.count(.refused(DeviceError(.invalid, "too high")))
                        report.skip("the gateway has no caffeine", count: 7)
                        return .stored(report)
                    }
                }
                let answer = try await office.post(
                    "/v1/devices/phone-1", token: "s3cret", type: "Application/JSON; charset=utf-8")
                #expect(answer.status == 200)
                #expect(answer.headers.contains("content-type: application/json"))
                #expect(
                    answer.json == [
                        "new": 3, "corrected": 1, "known": 2, "superseded": 0,
                        "refused": [["reason": "too high", "count": 1]],
                        "skipped": [["reason": "the gateway has no caffeine", "count": 7]],
                    ])
                group.cancelAll()
            }
        }
    }

    @Test func `an answer says what became of each entry where the driver does`() throws {
        var report = DocumentReport()
        report.new = 1
        report.list(DocumentReport.Entry(path: "samples[0]", .new))
        report.list(DocumentReport.Entry(path: "samples[1].unit", .refused, reason: "must be one of kg, g"))
        let answer = try JSONValue(parsing: Reply(report).answer.body)
        let entries: [JSONValue] = [
            ["path": "samples[0]", "outcome": "new"],
            ["path": "samples[1].unit", "outcome": "refused", "reason": "must be one of kg, g"],
        ]
        #expect(answer["entries"]?.asArray == entries)
        #expect(answer["further_entries"]?.asInt == 0)
        let plain = try JSONValue(parsing: Reply(DocumentReport()).answer.body)
        #expect(plain["entries"]?.asArray == nil)
    }

    @Test func `each error gets its status and says what to do`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "s3cret")
            let path = "/v1/devices/phone-1"
            for other in ["/", "/v1/devices/", "/v1/devices/a/b", "/v2/devices/phone-1", "/v1/devices/phone-1/"] {
                let answer = try await office.post(other, token: "s3cret")
                #expect((answer.status, answer.code ?? "") == (404, "not_found"), "\(other)")
            }
            let get = try await office.post(path, token: "s3cret", more: ["--request", "GET"])
            #expect((get.status, get.code ?? "") == (405, "method_not_allowed"))
            #expect(get.headers.contains("allow: post"))
            let stranger = try await office.post(path)
            #expect((stranger.status, stranger.code ?? "") == (401, "unauthorized"))
            #expect(stranger.headers.contains("www-authenticate: bearer"))
            for type in ["text/csv", "multipart/form-data", nil] {
                let answer = try await office.post(path, token: "s3cret", type: type)
                #expect((answer.status, answer.code ?? "") == (415, "unsupported_media_type"))
            }
            let zipped = try await office.post(path, token: "s3cret", more: ["--header", "Content-Encoding: gzip"])
            #expect(zipped.status == 415)
            #expect(zipped.json["error"]?["message"]?.asString?.contains("compressed") == true)
        }
    }

    @Test func `the line of a refused document names the device that it is for, if that could be one`() async throws {
        let log = LogRecorder()
        try await Office.with(logger: log.logger) { office in
            try office.expect("phone-1", token: "s3cret")
            _ = try await office.post("/v1/devices/phone-1", token: "s3cret", type: "text/csv")
            _ = try await office.post("/v1/devices/phone-2", token: "s3cret")
            _ = try await office.post("/v1/devices/PHONE!", token: "s3cret")
        }
        let lines = log.entries.filter { $0.message == "A posted document was refused." }
        #expect(lines.map { $0.metadata["status"] } == ["415", "401", "401"])
        #expect(lines.map { $0.metadata["device.id"] } == ["phone-1", "phone-2", nil])
    }

    @Test func `why records of a document are left out is in the log, with the device`() async throws {
        let log = LogRecorder()
        try await Office.with(logger: log.logger) { office in
            try office.expect("phone-1", token: "s3cret")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await office.serve("phone-1", token: "s3cret") { _ in
                        var report = DocumentReport()
                        report.known = 1
                        report.skip("a mood")
                        return .stored(report)
                    }
                }
                for _ in 0..<3 { _ = try await office.post("/v1/devices/phone-1", token: "s3cret") }
                group.cancelAll()
            }
        }
        let lines = log.entries.filter { $0.message == "Records of a document were skipped." }
        #expect(lines.map { $0.metadata["count"] } == ["1", "2"])
        #expect(lines.allSatisfy { $0.level == .notice && $0.metadata["device.id"] == "phone-1" })
        #expect(lines.first?.metadata["reasons"] == "a mood")
    }

    @Test func `what no driver can read is unprocessable`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "s3cret")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await office.serve("phone-1", token: "s3cret") { _ in .unreadable("Byte 3: unexpected byte.") }
                }
                let answer = try await office.post("/v1/devices/phone-1", token: "s3cret")
                #expect((answer.status, answer.code ?? "") == (422, "unprocessable_content"))
                #expect(answer.json["error"]?["message"]?.asString == "Byte 3: unexpected byte.")
                group.cancelAll()
            }
        }
    }

    @Test func `a document of twenty megabytes is taken, one byte more is not`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "s3cret")
            let path = "/v1/devices/phone-1"
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await office.serve("phone-1", token: "s3cret") }
                for chunked in [false, true] {
                    let more = chunked ? ["--header", "Transfer-Encoding: chunked"] : []
                    let full = [UInt8](repeating: 32, count: BodyBudget.maximumBody)
                    let taken = try await office.post(path, token: "s3cret", full, more: more)
                    #expect(taken.status == 200)
                    #expect(taken.json["new"]?.asInt == BodyBudget.maximumBody)
                    let refused = try await office.post(path, token: "s3cret", full + [32], more: more)
                    #expect((refused.status, refused.code ?? "") == (413, "content_too_large"))
                }
                group.cancelAll()
            }
        }
    }

    @Test func `a wrong token, another device's and an unknown name get the same answer`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "one")
            try office.expect("phone-2", token: "two")
            var answers: [Office.Answer] = []
            for (device, token) in [
                ("phone-1", "wrong"), ("phone-2", "one"), ("phone-3", "one"), ("PHONE", "one"), ("phone-4", "on"),
            ] {
                answers.append(try await office.post("/v1/devices/\(device)", token: token))
            }
            #expect(Set(answers.map(\.status)) == [401])
            #expect(Set(answers.map { "\($0.json)" }).count == 1)
        }
    }

    @Test func `guesses are slowed per address and device, and a right token is not guessed`() async throws {
        // A wait of a second is ten here, for a slow machine.
        try await Office.with(clock: .scaled(by: 0.1)) { office in
            try office.expect("phone-1", token: "one")
            try office.expect("phone-2", token: "two")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await office.serve("phone-2", token: "two") }
                #expect(try await office.post("/v1/devices/phone-1", token: "wrong").status == 401)
                // Even the right one waits now: a guess reveals nothing.
                let early = try await office.post("/v1/devices/phone-1", token: "one")
                #expect((early.status, early.code ?? "") == (429, "too_many_requests"))
                #expect(early.headers.contains("retry-after: 1"))
                #expect(try await office.post("/v1/devices/phone-2", token: "two").status == 200)
                // Without a token no refusal counts as a guess.
                for _ in 0..<3 { #expect(try await office.post("/v1/devices/phone-2").status == 401) }
                #expect(try await office.post("/v1/devices/phone-2", token: "two").status == 200)
                group.cancelAll()
            }
        }
    }

    @Test func `posts of one device queue, and those of others do not wait for them`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "one")
            try office.expect("phone-2", token: "two")
            let gate = Promise<Void>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await office.connect("phone-1", token: "one") { link in
                        for number in 0..<4 {
                            let document = try await link.next()
                            if number == 0 { try await gate.wait() }
                            document.answer(.stored(DocumentReport()))
                        }
                    }
                }
                group.addTask { await office.serve("phone-2", token: "two") }
                try await withThrowingTaskGroup(of: Int.self) { posts in
                    for _ in 0..<4 {
                        posts.addTask { try await office.post("/v1/devices/phone-1", token: "one").status }
                    }
                    #expect(try await office.post("/v1/devices/phone-2", token: "two").status == 200)
                    gate.fulfil(())
                    for try await status in posts { #expect(status == 200) }
                }
                group.cancelAll()
            }
        }
    }
}
