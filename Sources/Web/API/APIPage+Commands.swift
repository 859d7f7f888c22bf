import Concurrency
import Contract
import GatewayKit
import HTTPTypes
import JSON
import Synchronization
import Vitals

extension APIPage {
    /// Runs a command, and waits for its answer for a limited time. It runs on if the answer takes longer, or the client leaves: sent
    /// again with the same `id`, it gets the same answer.
    func command(
        _ name: String, of device: ConfiguredDevice?, _ call: APICall
    ) async throws(APIError) -> WebAnswer {
        let isAllowed = device.map { call.grant.owns($0) } ?? (call.grant.people == nil)
        guard isAllowed else {
            throw .forbidden("The token is not for all persons whom the command concerns.")
        }
        _ = try call.format()
        let seconds = try call.query.number(.wait, in: APIParameter.waits, default: APIParameter.defaultWait)
        let type = call.request.headers[.contentType]?.prefix { $0 != ";" }.trimmed.lowercased()
        guard type == APIFormat.json.mediaType else { throw .wrongType }
        let (id, arguments) = try Self.identified(call.request.body, name)
        let final = Promise<[UInt8]>()
        let first = Mutex<[UInt8]?>(nil)
        await sources.commander.perform(name, of: device?.id, arguments: arguments) { payload, isFinal in
            if isFinal { final.fulfil(payload) } else { first.withLock { $0 = payload } }
        }
        var payload = final.value
        if payload == nil, seconds > 0 {
            payload = await sources.clock.withTimeout(.seconds(seconds)) { try? await final.wait() } ?? nil
        }
        if let payload { return try Self.answer(payload) }
        let accepted = first.withLock { $0 } ?? Self.accepted(name, of: device, id)
        return WebAnswer(202, APIFormat.json.mediaType, accepted)
    }

    /// The arguments with an id, by which the client can ask for the answer again.
    private static func identified(
        _ body: [UInt8], _ name: String
    ) throws(APIError) -> (id: String?, arguments: [UInt8]) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: body) } catch {
            throw APIError(400, AnswerCode.badJSON.rawValue, "The body is not the JSON that is taken. \(error)")
        }
        guard let members = value.asObject else {
            throw APIError(400, AnswerCode.badJSON.rawValue, "The body must be a JSON object, such as {}.")
        }
        // The id of an acknowledgement is that of the alert, and so on.
        guard value["id"] == nil, !CommandParser.aboutOthers.contains(name) else {
            return (value["id"]?.asString, body)
        }
        var generator = SystemRandomNumberGenerator()
        let id = SampleID(random: &generator).description
        let rest = body.drop { $0 != UInt8(ascii: "{") }.dropFirst()
        return (id, Array("{\"id\":\"\(id)\"\(members.isEmpty ? "" : ",")".utf8) + rest)
    }

    /// What is known of a command that runs and has said nothing yet.
    private static func accepted(_ name: String, of device: ConfiguredDevice?, _ id: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", id)
        writer.member("command", name)
        writer.member("device", device?.id.text)
        writer.member("status", Answer.Status.accepted.rawValue)
        writer.endObject()
        return writer.bytes
    }

    /// The final answer: what was done, or why not, with the status of HTTP for its code.
    private static func answer(_ payload: [UInt8]) throws(APIError) -> WebAnswer {
        let value = (try? JSONValue(parsing: payload)) ?? .null
        if value["status"]?.asString == Answer.Status.done.rawValue {
            var answer = WebAnswer(200, APIFormat.json.mediaType, payload)
            answer.headers = [(name: "Cache-Control", value: "no-store")]
            return answer
        }
        let code = value["code"]?.asString.flatMap { AnswerCode(rawValue: $0) }
        var error = APIError(
            code.map { status(of: $0) } ?? 409, code?.rawValue ?? AnswerCode.conflict.rawValue,
            value["message"]?.asString ?? "The command was not done.")
        if error.status == 429 { error.headers = ["Retry-After": "10"] }
        error.answer = payload
        throw error
    }

    /// The status of HTTP for the code of an answer: the request is wrong, or there is nothing of the name, or too much at once; or else
    /// device and gateway do not allow it as they are now.
    static func status(of code: AnswerCode) -> Int {
        switch code {
        case .badJSON, .invalid: 400
        case .unknownCommand, .unknownDevice: 404
        case .tooLarge: 413
        case .busy: 429
        case .unsupported, .conflict, .notWorn, .lowBattery, .offline, .disconnected, .timeout, .expired, .idReused,
            .deviceError:
            409
        }
    }
}
