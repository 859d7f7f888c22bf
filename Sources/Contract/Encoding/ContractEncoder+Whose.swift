import JSON
package import MQTT
package import Vitals

/// Questions name persons, and never a value.
extension ContractEncoder {
    func question(_ question: Question, sequence: Int64, of info: DeviceInfo) -> OutgoingMessage {
        message(.whoseEvent(info.id), .question) { writer in
            writer.member("seq", sequence)
            writer.members(of: question, info)
        }
    }

    /// The samples that wait until somebody says whose they are.
    package func whose(_ state: WhoseState, of device: DeviceID, info: DeviceInfo?) -> OutgoingMessage {
        message(.whose(device), .whose) { writer in
            writer.member("waiting", array: state.questions) { writer, question in
                writer.beginObject()
                writer.members(of: question, info)
                writer.endObject()
            }
            writer.member("more", state.hasMore)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of question: Question, _ info: DeviceInfo?) {
        member("id", question.id)
        member("metric", question.metric.rawValue)
        member("measured_at", question.measuredAt)
        member("candidates", texts: question.candidates.compactMap { info?.person(user: $0) })
    }
}
