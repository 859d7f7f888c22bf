import Glibc

/// The topics that the benchmark subscribes to, and the meaning of their names.
enum Topics {
    static let base = "vitals2mqtt/home"
    static let status = "\(base)/gateway/status"
    /// Every fact, and the gateway's status; no states, which a consumer of samples does not need.
    static let filters = [status, "\(base)/+/measurement/+", "\(base)/+/event/+", "\(base)/+/daily/+/+"]
    /// The topic of the bare loop: the subscriber does the same work for it.
    static let bare = "\(base)/bare/measurement/heart_rate"

    /// A device's identifier by its index.
    static func device(_ index: Int) -> String { "dev-\(index)" }
}

extension Arrivals {
    func isStatus(_ topic: UnsafePointer<CChar>) -> Bool { strcmp(topic, Topics.status) == 0 }

    /// The number of the device whose name ends at `end`, as written by `Topics.device`; `nil` for another name.
    func number(before end: UnsafePointer<CChar>, in topic: UnsafePointer<CChar>) -> Int? {
        var (number, factor, position) = (0, 1, end - 1)
        while position > topic, case let digit = UInt8(bitPattern: position.pointee) &- UInt8(ascii: "0"), digit < 10 {
            number += Int(digit) * factor
            factor *= 10
            position -= 1
        }
        return factor > 1 && UInt8(bitPattern: position.pointee) == UInt8(ascii: "-") ? number : nil
    }
}
