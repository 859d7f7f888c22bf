import JSON
import Testing
import Vitals

@testable import Web

/// What the pages about health say while parts are late.
@Suite struct HealthPageTests {
    private func ask(
        _ question: HealthPage.Question, _ gateway: ShownGateway
    ) async throws -> (status: Int, late: [String], json: JSONValue) {
        let answer = await HealthPage(of: gateway, question).answer(to: WebRequest(path: question.path))
        let json = try JSONValue(parsing: answer.body)
        return (answer.status, json["late"]?.asArray?.compactMap(\.asString) ?? [], json)
    }

    @Test func `a gateway that works is alive and ready`() async throws {
        for question in [HealthPage.Question.live, .ready] {
            let answer = try await ask(question, ShownGateway())
            #expect(answer.status == 200 && answer.json["status"]?.asString == "ok" && answer.late.isEmpty)
        }
    }

    @Test func `a part that has not answered for ten seconds is named by both`() async throws {
        let gateway = ShownGateway { $0.waiting = ["store_writer": .seconds(10), "timers": .seconds(1)] }
        #expect(try await ask(.live, gateway).status == 200)
        gateway.set { $0.waiting["store_writer"] = .seconds(11) }
        for question in [HealthPage.Question.live, .ready] {
            let answer = try await ask(question, gateway)
            #expect(answer.status == 503 && answer.late == ["store_writer"])
            #expect(answer.json["status"]?.asString == "late")
        }
    }

    @Test func `a broker and a device that are away deny that it is ready, and not that it is alive`() async throws {
        let gateway = ShownGateway { $0.late = ["broker", "device.band-1"] }
        #expect(try await ask(.live, gateway).status == 200)
        let ready = try await ask(.ready, gateway)
        #expect(ready.status == 503 && ready.late == ["broker", "device.band-1"])
        gateway.set { $0.late = [] }
        #expect(try await ask(.ready, gateway).status == 200)
    }

    @Test func `a part is named once, and of thousands a hundred are named`() async throws {
        let gateway = ShownGateway {
            $0.waiting = ["devices": .seconds(30)]
            $0.late = ["devices"] + (1...1_000).map { "device.band-\($0)" }
        }
        let ready = try await ask(.ready, gateway)
        #expect(ready.late.count == HealthPage.maximumNames && ready.late.filter { $0 == "devices" }.count == 1)
        #expect(ready.json["more"]?.asInt == 901)
    }

    @Test func `only what reads is answered, and an unknown path is said`() async throws {
        let gateway = ShownGateway()
        let router = Router(of: gateway, try webConfiguration())
        for path in ["/metrics", "/health/live", "/health/ready"] {
            #expect(await router.answer(to: WebRequest(path: path)).status == 200)
            let refused = await router.answer(to: WebRequest(method: "POST", path: path))
            #expect(refused.status == 405 && refused.headers.map(\.value) == ["GET, HEAD"])
        }
        let unknown = await router.answer(to: WebRequest(path: "/health"))
        #expect(unknown.status == 404 && String(decoding: unknown.body, as: UTF8.self).contains("/health/live"))
    }

    @Test func `the longest path of a page counts`() async {
        struct Page: WebPage {
            let path: String
            func answer(to request: WebRequest) async -> WebAnswer { WebAnswer(200, text: path) }
        }
        let router = Router([Page(path: "/"), Page(path: "/v1/devices/"), Page(path: "/v1")])
        for (path, page) in [("/", "/"), ("/a/b", "/"), ("/v1", "/v1"), ("/v1/devices/x", "/v1/devices/")] {
            #expect(await router.answer(to: WebRequest(path: path)).body == Array("\(page)\n".utf8))
        }
    }
}
