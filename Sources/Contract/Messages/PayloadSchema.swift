/// The `schema` of each kind of payload. Its number rises when a key changes its meaning or is removed, but not when
/// one is added.
package enum PayloadSchema: String, CaseIterable, Sendable {
    case measurement = "vitals2mqtt.measurement/1"
    case latest = "vitals2mqtt.latest/1"
    case daily = "vitals2mqtt.daily/1"
    case alert = "vitals2mqtt.alert/1"
    case alertState = "vitals2mqtt.alert_state/1"
    case gap = "vitals2mqtt.gap/1"
    case config = "vitals2mqtt.config/1"
    case info = "vitals2mqtt.info/1"
    case link = "vitals2mqtt.link/1"
    case sync = "vitals2mqtt.sync/1"
    case measure = "vitals2mqtt.measure/1"
    case wear = "vitals2mqtt.wear/1"
    case pairing = "vitals2mqtt.pairing/1"
    case question = "vitals2mqtt.question/1"
    case whose = "vitals2mqtt.whose/1"
    case response = "vitals2mqtt.response/1"
    case gatewayInfo = "vitals2mqtt.gateway_info/1"
    case gatewayState = "vitals2mqtt.gateway_state/1"
}
