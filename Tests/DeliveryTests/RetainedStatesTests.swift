import Contract
import Messages
import Testing
import Vitals

@testable import Delivery

@Suite struct RetainedStatesTests {
    @Test func `a connection begins with the gateway's info, whatever came before it`() throws {
        let states = RetainedStates(beside: Outbox())
        states.put(.leftover(topic: "vitals2mqtt/home/old/link"))
        states.put(.message(.removal(of: "vitals2mqtt/home/gone/link")))
        let start = Timestamp(milliseconds: 0)
        let store = SampleID(high: 1, low: 2)
        states.put(.gatewayInfo(GatewayInfo(version: "1", store: store, startedAt: start, plugins: [], devices: [])))
        for _ in 0..<2 {
            states.connect()
            guard case .gatewayInfo(let info) = states.next() else {
                Issue.record("another state is first")
                return
            }
            #expect(info.store == store)
            guard case .message = states.next() else {
                Issue.record("the other state is not second")
                return
            }
            #expect(states.next() == nil)
            states.disconnect()
        }
    }
}
