import JSON
package import MQTT
import Vitals

extension OutgoingMessage {
    /// The payload of a final answer without its data, which says that the answer was too long; `nil` if `answer` is not
    /// an answer.
    package static func tooLarge(_ answer: [UInt8]) -> [UInt8]? {
        guard let members = try? JSONValue(parsing: answer).asObject else { return nil }
        let message = "It was carried out, but its answer is longer than the broker takes; ask for less."
        return JSONValue.object(
            members.map { member in
                switch member.key {
                case "status": JSONValue.Member("status", .string(Answer.Status.failed.rawValue))
                case "code": JSONValue.Member("code", .string(AnswerCode.tooLarge.rawValue))
                case "message": JSONValue.Member("message", .string(message))
                case "data": JSONValue.Member("data", .null)
                case "violations": JSONValue.Member("violations", .array([]))
                default: member
                }
            }
        ).bytes
    }
}
