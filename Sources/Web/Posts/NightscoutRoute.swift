import HTTPTypes
import JSON
import Listening
import Vitals

/// Where a request goes below the path of devices.
struct PostTarget {
    /// The device that it names.
    let name: Substring
    /// Where it goes below the device's own path; `nil` at that path, for a document of the device.
    let route: NightscoutRoute?

    /// The target of a request; `nil` if nothing is there.
    init?(_ head: HTTPRequest) {
        let path = head.path?.prefix { $0 != "?" } ?? ""
        guard path.hasPrefix(DocumentRequests.path) else { return nil }
        let rest = path.dropFirst(DocumentRequests.path.count)
        name = rest.prefix { $0 != "/" }
        guard !name.isEmpty else { return nil }
        guard name.count < rest.count else {
            route = nil
            return
        }
        // A base URL may end with a slash, which the app puts another one behind.
        let parts = rest.dropFirst(name.count).split(separator: "/")
        guard parts.count > 1, parts[0] == "api" else { return nil }
        route = NightscoutRoute(head.method, version: parts[1], Array(parts.dropFirst(2)))
    }
}

/// What Nightscout's apps want of its API, version 1, below the path of a device: they upload, and ask whether their settings are right.
/// Nothing that is stored here is handed out.
enum NightscoutRoute: Hashable {
    /// The version of Nightscout that `status` names: an app compares it with the first one that has what it needs.
    static let version = "15.0.0"
    private static let collections: Set<Substring> = ["entries", "treatments", "devicestatus", "activity"]

    /// Entries and whatever else is uploaded, for the device's driver.
    case upload
    case status
    /// Whether the secret is right.
    case test
    /// A list of what was uploaded, which is empty.
    case list
    /// The end of a treatment, of which none is stored.
    case removal
    case wrongMethod
    case otherVersion
    case nothing

    /// The route of a request.
    /// - Parameter path: what follows the version.
    init(_ method: HTTPRequest.Method, version: Substring, _ path: [Substring]) {
        guard version == "v1" else {
            self = version == "v2" || version == "v3" ? .otherVersion : .nothing
            return
        }
        let path = path.map { $0.hasSuffix(".json") ? $0.dropLast(".json".count) : $0 }
        let isReading = method == .get || method == .head
        switch path.first {
        case "status" where path.count == 1: self = isReading ? .status : .wrongMethod
        case "experiments" where path == ["experiments", "test"]: self = isReading ? .test : .wrongMethod
        case let name? where Self.collections.contains(name) || name == "profile":
            if isReading {
                self = .list
            } else if name == "treatments", method == .delete {
                self = .removal
            } else {
                let isUpload = (method == .post || method == .put) && path.count == 1 && name != "profile"
                self = isUpload ? .upload : .wrongMethod
            }
        default: self = .nothing
        }
    }

    /// Why nothing is taken here.
    var refusal: Reply? {
        switch self {
        case .wrongMethod: .wrongMethod
        case .otherVersion: .otherVersion
        case .nothing: .notFound
        default: nil
        }
    }

    /// The answer to who has the secret; `nil` for an upload.
    func answer(at now: Timestamp) -> WebAnswer? {
        switch self {
        case .status: Self.status(at: now)
        case .test: Self.json(#"{"status":"ok"}"#)
        case .list: Self.json("[]")
        case .removal: Self.json("{}")
        default: nil
        }
    }

    private static func json(_ text: String) -> WebAnswer { WebAnswer(200, "application/json", Array(text.utf8)) }

    private static func status(at now: Timestamp) -> WebAnswer {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("status", "ok")
        writer.member("name", "vitals2mqtt")
        writer.member("version", version)
        writer.member("serverTime", now.description)
        writer.member("serverTimeEpoch", Int(now.milliseconds))
        writer.member("apiEnabled", true)
        writer.member("careportalEnabled", false)
        writer.member("settings", object: { $0.member("units", "mg/dl") })
        writer.endObject()
        return WebAnswer(200, "application/json", writer.bytes)
    }
}

extension NightscoutRoute {
    /// The hash of the secret that a request has: `api-secret` with the hash or with `token=` and the secret, `Authorization: Bearer`, or
    /// `token` in the query.
    static func secretHash(in head: HTTPRequest) -> String? {
        let token = "token="
        if let name = HTTPField.Name("api-secret"), let secret = head.headerFields[name], !secret.isEmpty {
            return secret.hasPrefix(token) ? SecretHash.of(String(secret.dropFirst(token.count))) : secret.lowercased()
        }
        let query = (head.path ?? "").drop { $0 != "?" }.dropFirst().split(separator: "&")
        return query.first { $0.hasPrefix(token) }.map { SecretHash.of(String($0.dropFirst(token.count))) }
    }
}
