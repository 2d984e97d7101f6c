import asyncio
import threading

import pytest
from groundkit_core.blocking import result_of


async def name_of_thread() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


async def failing(error: BaseException) -> None:
    await asyncio.sleep(0)
    raise error


def test_without_a_loop_it_runs_in_this_thread() -> None:
    assert result_of(name_of_thread()) == threading.current_thread().name


def test_inside_a_running_loop_it_runs_beside_it() -> None:
    async def main() -> str:
        return result_of(name_of_thread())

    assert asyncio.run(main()) != threading.current_thread().name


def test_inside_a_loop_it_may_be_nested() -> None:
    async def outer() -> str:
        return result_of(name_of_thread())

    async def main() -> str:
        return result_of(outer())

    assert asyncio.run(main()).startswith("Thread-")


@pytest.mark.parametrize("error", [ValueError("v"), KeyboardInterrupt(), SystemExit(3)])
def test_an_error_comes_out_as_it_is_in_both(error: BaseException) -> None:
    async def main() -> None:
        with pytest.raises(type(error)) as inside:
            result_of(failing(error))
        assert inside.value is error

    with pytest.raises(type(error)) as caught:
        result_of(failing(error))
    assert caught.value is error
    asyncio.run(main())


def test_nothing_goes_on_running() -> None:
    before = threading.active_count()

    async def main() -> None:
        result_of(name_of_thread())

    asyncio.run(main())
    assert threading.active_count() == before
