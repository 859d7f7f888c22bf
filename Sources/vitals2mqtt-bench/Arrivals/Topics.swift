import Glibc

/// The topics that the benchmark listens to, and what their names say.
enum Topics {
    static let base = "vitals2mqtt/home"
    static let status = "\(base)/gateway/status"
    /// Every fact, and when the gateway is there; no states, which a consumer of samples does not want.
    static let filters = [status, "\(base)/+/measurement/+", "\(base)/+/event/+", "\(base)/+/daily/+/+"]
    /// Where the bare loop publishes: the subscriber has the same work with it.
    static let bare = "\(base)/bare/measurement/heart_rate"

    /// A device's identifier by its place.
    static func device(_ index: Int) -> String { "dev-\(index)" }
}

extension Arrivals {
    func isStatus(_ topic: UnsafePointer<CChar>) -> Bool { strcmp(topic, Topics.status) == 0 }

    /// The number of the device that stands before `end`, as `Topics.device` has written it; `nil` for another name.
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
