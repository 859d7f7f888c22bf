import Contract
import JSON
import MQTT
import Testing
import Vitals

@Suite struct AnswerTests {
    @Test func `goes to the response topic with what was sent along, else to the device, else to the gateway`() {
        let encoder = Examples.encoder
        let own = CommandEnvelope(device: Examples.device, command: "sync", responseTopic: "me", correlation: [1])
        var copy = encoder
        let message = copy.answer(Answer(.done), to: own, about: nil, at: Examples.now)
        #expect(message.topic == "me")
        #expect(message.correlationData == [1])
        #expect(message.expiry == .seconds(60))
        #expect(!message.isRetained)
        let device = CommandEnvelope(device: Examples.device, command: "sync")
        #expect(encoder.answerTopic(for: device) == "vitals2mqtt/home/ring-1/response")
        #expect(encoder.answerTopic(for: device, isDeviceKnown: false) == "vitals2mqtt/home/gateway/response")
        #expect(
            encoder.answerTopic(for: CommandEnvelope(device: nil, command: "scan"))
                == "vitals2mqtt/home/gateway/response")
    }

    @Test(arguments: [Examples.heartRate, Examples.sleep])
    func `fits pages of samples into 200 KiB`(stored: StoredSample) throws {
        var encoder = Examples.encoder
        let samples = [StoredSample](repeating: stored, count: 2000)
        let count = encoder.samplesPerAnswer(samples, of: Examples.info)
        #expect((200..<2000).contains(count))
        #expect(encoder.samplesPerAnswer(Array(samples.prefix(count)), of: Examples.info) == count)
        let page = Answer(
            .done, data: .samples(Array(samples.prefix(count)), metric: .sleep, next: String(repeating: "9", count: 40))
        )
        let size = ExampleMessages.answer(page).payload.count
        #expect(size < ContractEncoder.maximumAnswerData + 512)
        #expect(size > ContractEncoder.maximumAnswerData - 2048)
    }

    @Test func `sends a sample that is too great by itself`() {
        let start = Examples.time("2026-11-20T00:00:00Z")
        let stages = (0..<SampleLimits.stages).map { index in
            Sleep.Stage(.light, from: start + .seconds(index * 30), to: start + .seconds(index * 30 + 30))
        }
        let sleep = Examples.stored(.sleep, .sleep(Sleep(stages: stages)))
        var encoder = Examples.encoder
        #expect(encoder.samplesPerAnswer([sleep, Examples.heartRate], of: Examples.info) == 1)
        #expect(encoder.samplesPerAnswer([Examples.heartRate, sleep], of: Examples.info) == 1)
        #expect(encoder.samplesPerAnswer([], of: Examples.info) == 0)
    }

    @Test func `lists as many devices in reach as fit, and counts the others`() throws {
        var device = Examples.nearby.devices[0]
        device.name = String(repeating: "\u{1}", count: 248)
        device.services = [String](repeating: "14839ac4-7d7e-415c-9a42-167340cf2339", count: 32)
        let report = ScanReport(devices: [ScanReport.Device](repeating: device, count: 200), skipped: 5)
        let message = ExampleMessages.answer(Answer(.done, data: .nearby(report)))
        #expect(message.payload.count < ContractEncoder.maximumAnswerData + 512)
        let data = try #require(try JSONValue(parsing: message.payload)["data"])
        let listed = try #require(data["devices"]?.asArray?.count)
        #expect((50..<200).contains(listed))
        #expect(data["skipped"]?.asInt == 205 - listed)
    }

    @Test func `names the day with which to go on where not all days fit`() throws {
        let days = (0..<366).map { index in
            var record = ExampleMessages.day()
            record.summary.day = LocalDay(number: 20_000 + index)
            return record
        }
        let message = ExampleMessages.answer(Answer(.done, data: .days(days)))
        #expect(message.payload.count < ContractEncoder.maximumAnswerData + 512)
        let data = try #require(try JSONValue(parsing: message.payload)["data"])
        let count = try #require(data["days"]?.asArray).count
        #expect((1..<366).contains(count))
        #expect(data["next"]?.asString == LocalDay(number: 20_000 + count).description)
    }

    @Test func `keeps a sample out of the future of its latest state`() {
        func latest(_ until: String?, isStale: Bool = false) -> OutgoingMessage {
            Examples.encoder.latest(
                LatestState(stored: Examples.heartRate, freshUntil: until.map(Examples.time), isStale: isStale),
                of: Examples.device, person: nil, now: Examples.now)
        }
        #expect(latest("2026-11-21T07:31:05.120Z").expiry == .seconds(1))
        #expect(latest(nil).expiry == nil)
        #expect(latest("2026-11-21T07:31:04.120Z").expiry == nil)
        #expect(latest("2026-11-21T08:00:00Z", isStale: true).expiry == nil)
    }
}
