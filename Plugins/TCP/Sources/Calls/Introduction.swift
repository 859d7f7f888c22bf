import GatewayKit
import JSON
import Listening
import Vitals

/// The first line of a device that calls: who it is, and its secret.
///
///     {"device":"phone-1","token":"…"}
struct Introduction: Sendable, Hashable {
    /// The most bytes of the line, with its end.
    static let maximumLength = 1024

    /// The device's id in the configuration.
    var device: String
    /// The device's secret.
    var token: String

    /// Reads a line; `nil` if it is none. Other members are ignored.
    init?(_ line: [UInt8]) {
        guard let value = try? JSONValue(parsing: line), let device = value["device"]?.asString,
            let token = value["token"]?.asString
        else { return nil }
        self.device = device
        self.token = token
    }
}

/// Why a call is refused. The caller gets it as a line, and then the end of the connection:
///
///     {"error":{"code":"unauthorized","message":"…"}}
struct CallRefusal: Error, Sendable, Hashable {
    /// What is wrong, for a program.
    enum Code: String, Sendable {
        /// The first line is not an introduction, or did not come in time.
        case badRequest = "bad_request"
        /// There is no such device, or it has another secret.
        case unauthorized
        /// Too many calls at once, or a login too soon.
        case tooManyRequests = "too_many_requests"
    }
    var code: Code
    var message: String

    static let notIntroduced = CallRefusal(
        code: .badRequest,
        message:
            "The first line must be {\"device\":\"…\",\"token\":\"…\"}, of at most \(Introduction.maximumLength) bytes."
    )
    static let tooLate = CallRefusal(
        code: .badRequest,
        message: "The first line did not come within \(TCPListener.introductionTime.configurationText).")
    /// It does not say which of the two is wrong: a stranger must not discover names of devices.
    static let unauthorized = CallRefusal(
        code: .unauthorized, message: "There is no device of this name that may call, or its token is another one.")
    static func tooSoon(_ wait: Duration) -> CallRefusal {
        let seconds = max(1, Int((Double(wait.inMilliseconds) / 1000).rounded(.up)))
        return CallRefusal(code: .tooManyRequests, message: "The token was wrong before. Try again in \(seconds) s.")
    }
    /// There is no place for another caller that has not introduced itself.
    static func busy(_ refusal: ConnectionShares.Refusal) -> CallRefusal {
        let wait = TCPListener.introductionTime.configurationText
        return CallRefusal(code: .tooManyRequests, message: "\(refusal) Try again in \(wait).")
    }

    /// The line.
    var line: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member(
            "error",
            object: { error in
                error.member("code", code.rawValue)
                error.member("message", message)
            })
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
