import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// The simultaneous actions of a driver and the gateway on an inbox, on real threads.
@Suite struct EventInboxStormTests {
    @Test func `an inbox that is filled, read, finished and cancelled at once lets everybody go`() async {
        await Storm.run("An event inbox") { _ in
            let inbox = EventInbox(capacity: 1)
            let event = DeviceEvent.malformed("x")
            let reader = Task { while (try? await inbox.next()) != nil {} }
            let sender = Task { await inbox.send([event, event]) }
            return [
                { reader.cancel() }, { inbox.finish() }, { sender.cancel() },
                {
                    await reader.value
                    await sender.value
                },
            ]
        }
    }
}
