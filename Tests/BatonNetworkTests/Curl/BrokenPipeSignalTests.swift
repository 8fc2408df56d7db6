#if os(Linux)
    import Foundation
    import Testing

    @testable import BatonNetwork

    @Suite(.timeLimit(.minutes(5))) struct BrokenPipeSignalTests {
        private static var isBlocked: Bool {
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            return sigismember(&mask, SIGPIPE) == 1
        }

        @Test("Bodies do not inherit the mask of the transport's thread, and a pending signal does not end the process")
        func maskInside() async {
            let masks = await onOwnThread {
                BrokenPipeSignal.block()
                pthread_kill(pthread_self(), SIGPIPE)
                var masks = [Self.isBlocked]
                BrokenPipeSignal.allow { masks.append(Self.isBlocked) }
                masks.append(Self.isBlocked)
                return masks
            }
            #expect(masks == [true, false, true])
        }
    }
#endif
