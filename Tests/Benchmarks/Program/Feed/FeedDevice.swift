import Foundation
import Glibc

/// A device of the feeder: a loopback port, and a thread that serves one connection after another.
struct FeedDevice: Sendable {
    let port: UInt16
    let tally = DeviceTally()
    private let listener: Int32

    init() throws {
        (listener, port) = try Loopback.listen()
    }

    /// Starts serving.
    func start(_ plan: FeedPlan, index: Int) {
        let (listener, tally) = (listener, tally)
        Thread.detachNewThread {
            var stock = SampleStock()
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { return }
                Loopback.setNoDelay(socket)
                var connection = FeedConnection(socket: socket, plan: plan, tally: tally, index: index, stock: stock)
                connection.serve()
                stock = connection.stock
                close(socket)
            }
        }
    }
}
