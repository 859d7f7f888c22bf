import GatewayKit
import Listening
import Logging
import TestSupport
import Testing
import Vitals

@testable import HTTP

/// The transport's own key, and what it gives the driver. `WebTests` has the listener.
@Suite(.timeLimit(.minutes(1))) struct TransportTests {
    @Test func `a device needs a token`() {
        var reader = ConfigurationReader(.section([:], isQuoted: true))
        _ = HTTPTransport(options: &reader)
        #expect(reader.finish().map(\.message).contains { $0.contains("token is missing") })
        var plain = ConfigurationReader(.section(["token": "here"], isQuoted: true))
        _ = HTTPTransport(options: &plain)
        #expect(plain.finish().map(\.message).contains { $0.contains("must not be written here") })
    }

    @Test func `the documents of the device that has this token are its link`() async throws {
        let device = try #require(DeviceID("phone-1"))
        let token = ConfigurationValue.section(["env": "TOKEN"], isQuoted: true)
        var reader = ConfigurationReader(
            ConfigurationValue(.map([(ConfigurationKey("token"), token)])),
            place: ConfigurationPlace(environment: ["TOKEN": "one"]))
        let transport = HTTPTransport(options: &reader)
        #expect(reader.finish().isEmpty)
        let context = LinkContext(device: device, logger: Logger(label: "test"))
        let document = Document([1, 2], mediaType: "application/json", receivedAt: Timestamp(seconds: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await transport.withLink(context: context) { link in
                    guard case .documents(let documents) = link else { return }
                    try await documents.next().answer(.unreadable("read"))
                }
            }
            let senders = context.senders
            let (one, two) = (SecretHash.of("one"), SecretHash.of("two"))
            while senders.sender("phone-1", token: one, uptime: .zero) == nil { await Task.yield() }
            #expect(senders.sender("phone-1", token: two, uptime: .zero) == nil)
            senders.sender("phone-1", token: one, uptime: .zero)?.add(document)
            let answer = try await document.answered()
            #expect(answer == .unreadable("read"))
            try await group.waitForAll()
        }
    }
}
